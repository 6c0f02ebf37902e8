import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { unwrapped } from "../operations/marks.ts";
import type { AnyOperation } from "../operations/operation.ts";

/** The parts of a request that become an operation's input. */
export interface RequestParts {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Null if there is no body. */
  readonly body: Buffer | null;
}

/** The deepest nesting of a body in JSON. No settings are that deep. */
const MAX_DEPTH = 32;

/** The input from a query. The text of each parameter is converted to the type of the operation's member. */
export function inputOfQuery(
  { input }: Pick<AnyOperation, "input">,
  { params, query }: Omit<RequestParts, "body">,
): Record<string, unknown> {
  const shape = input.shape as Readonly<Record<string, z.ZodType>>;
  const given = [...new Set(query.keys())].map((name) => {
    if (Object.hasOwn(params, name)) throw wrongParameter(name, "stands in the path");
    return [name, valueOf(name, query.getAll(name), Object.hasOwn(shape, name) ? shape[name] : undefined)];
  });
  return { ...(Object.fromEntries(given) as Record<string, unknown>), ...params };
}

/** The input from a body. Of the query only `dry_run` is used. @throws invalid_json, invalid_request */
export function inputOfBody(
  { input }: Pick<AnyOperation, "input">,
  { params, query, body }: RequestParts,
): Record<string, unknown> {
  const { dry_run: dryRun } = input.shape as Readonly<Record<string, z.ZodType>>;
  const fromQuery = new Map<string, unknown>();
  for (const name of new Set(query.keys())) {
    if (name !== "dry_run" || dryRun === undefined) throw wrongParameter(name, "unknown parameter");
    fromQuery.set(name, valueOf(name, query.getAll(name), dryRun));
  }
  const members = body === null || body.length === 0 ? {} : parseObject(body);
  const crowded = Object.entries(members).find(([name, value]) => isCrowd(name, value));
  if (crowded !== undefined)
    throw new FormsvcError("invalid_request", `${crowded[0]}: at most ${MAX_BULK} at once`, {
      details: { [crowded[0]]: `expected at most ${MAX_BULK}` },
    });
  const doubled = Object.keys(members).find((name) => Object.hasOwn(params, name) || fromQuery.has(name));
  if (doubled !== undefined) throw wrongParameter(doubled, "stands in the address already");
  return { ...members, ...Object.fromEntries(fromQuery), ...params };
}

/** The members that name many rows. The operation changes all of them or none, and at most {@link MAX_BULK}. */
const BULK_MEMBERS: ReadonlySet<string> = new Set(["submissions", "held", "deliveries"]);
const MAX_BULK = 100;

function isCrowd(name: string, value: unknown): boolean {
  return BULK_MEMBERS.has(name) && Array.isArray(value) && value.length > MAX_BULK;
}

/** @throws invalid_json */
function parseObject(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new FormsvcError("invalid_json");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new FormsvcError("invalid_json");
  if (isDeeper(value, MAX_DEPTH))
    throw new FormsvcError("invalid_json", `the body is nested deeper than ${MAX_DEPTH}`);
  return value as Record<string, unknown>;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/** Converts the texts of a parameter. A text that does not fit the type stays a text, and the operation refuses it by name. */
function valueOf(name: string, texts: readonly string[], type: z.ZodType | undefined): unknown {
  const inner = type && unwrapped(type);
  if (inner instanceof z.ZodArray) return texts;
  const [text = "", ...others] = texts;
  if (others.length > 0) throw wrongParameter(name, "given more than once");
  if (inner instanceof z.ZodNumber) return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (inner instanceof z.ZodBoolean) return text === "true" ? true : text === "false" ? false : text;
  return text;
}

export function wrongParameter(name: string, problem: string): FormsvcError {
  const named = name.slice(0, 100);
  return new FormsvcError("invalid_request", `these query parameters are wrong: ${named}`, {
    details: { [named]: problem },
  });
}
