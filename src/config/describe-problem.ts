import type { z } from "zod";
import { nearestName } from "../foundation/nearest-name.ts";
import { configSchema, defaultConfig, secretPaths } from "./config.ts";
import { schemaAt, whatToWrite, withNull } from "./what-to-write.ts";

type Issue = z.core.$ZodIssue;

interface ConfigProblem {
  /** The names of the setting, separated by dots. */
  readonly path: string;
  /** What was given, what is allowed and what to write. A secret is never in it. */
  readonly message: string;
}

/** Longer texts are cut, so that a problem stays one line that can be read. */
const MAX_SHOWN_LENGTH = 80;

/** Says each problem of a configuration in plain words. @param config the value that the schema refused */
export function describeProblems(error: z.ZodError, config: unknown): ConfigProblem[] {
  /** The settings whose value is of another kind. What else is wrong with it says nothing. */
  const ofAnotherKind = new Set<string>();
  return error.issues.flatMap((issue): ConfigProblem[] => {
    const names = issue.path.map(String);
    if (ofAnotherKind.has(names.join("."))) return [];
    if (issue.code === "invalid_type") ofAnotherKind.add(names.join("."));
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({
        path: [...names, key].join("."),
        message: `there is no such setting${meant(key, namesIn(names))}`,
      }));
    return [{ path: names.join("."), message: describe(issue, names, config) }];
  });
}

function describe(issue: Issue, path: readonly string[], config: unknown): string {
  const value = valueAt(config, path);
  const schema = schemaAt(configSchema, path);
  const given = show(value, path);
  const write = `write ${whatToWrite(schema, path)}`;
  const { code } = issue;
  if (code === "invalid_type")
    return `${wrongType(issue.expected, value, given)}: ${write}${withoutQuotes(schema, value)}`;
  if (code === "too_small" || code === "too_big") return `${wrongSize(issue, value, given)}: ${write}`;
  if (code === "invalid_value")
    return `${given} is not one of the choices: ${write}${meant(value, issue.values)}`;
  if (code === "invalid_key") {
    const name = wanted(issue.issues[0]?.message) ?? "another name";
    return `${JSON.stringify(path.at(-1))} is not such a name: write ${name}`;
  }
  const form = wanted(issue.message);
  if (form !== null) return `${given} is not allowed: write ${withNull(form, schema)}`;
  // A rule between settings says in its own words what to do.
  return code === "custom" ? issue.message : `${given} is not allowed: ${write}`;
}

/** What a message of the schema expects; null if it says something else. */
function wanted(message = ""): string | null {
  return message.startsWith("expected ") ? message.slice("expected ".length) : null;
}

const KINDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  array: "a list",
  object: "an object",
  record: "an object",
};

function wrongType(expected: string, value: unknown, given: string): string {
  if (value === undefined) return "this is missing";
  if (expected === "boolean") return `${given} is neither true nor false`;
  const kind = expected === "int" && typeof value !== "number" ? KINDS["number"] : KINDS[expected];
  return `${given} is not ${kind ?? "allowed"}`;
}

/** Only this tells a number from a text that looks like it. */
function withoutQuotes(schema: z.ZodType, value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") return "";
  return schema.safeParse(Number(value)).success ? ", without quotes" : "";
}

type SizeIssue = Extract<Issue, { code: "too_big" | "too_small" }>;

function wrongSize({ code, origin }: SizeIssue, value: unknown, given: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "the list is empty";
    return `the list has ${value.length} entries, which are too ${code === "too_big" ? "many" : "few"}`;
  }
  if (origin !== "string") return `${given} is too ${code === "too_big" ? "large" : "small"}`;
  if (value === "") return "the text is empty";
  return `${given} is too ${code === "too_big" ? "long" : "short"}`;
}

/** The value as it stands in the file. Of a secret, and of what may hold one, nothing is shown. */
function show(value: unknown, path: readonly string[]): string {
  if (value === undefined) return "nothing";
  if (mayBeSecret(path.join("."))) return "the value";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  // A user name or password in an address.
  const text = JSON.stringify(value).replace(/\/\/[^/]*@/g, "//…@");
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…"` : text;
}

/** Whether a path is a secret, is inside of one, or has one inside: somebody may have written the secret in place of its section. */
function mayBeSecret(path: string): boolean {
  return secretPaths.some(
    (secret) => secret === path || secret.startsWith(`${path}.`) || path.startsWith(`${secret}.`),
  );
}

function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    config,
  );
}

function meant(given: unknown, candidates: readonly unknown[]): string {
  if (typeof given !== "string") return "";
  const nearest = nearestName(given, candidates.map(String));
  return nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
}

/** The names of the settings in a part of the configuration; none if the part is not one of the built-in ones. */
function namesIn(path: readonly string[]): string[] {
  const part = valueAt(defaultConfig, path);
  return typeof part === "object" && part !== null ? Object.keys(part) : [];
}
