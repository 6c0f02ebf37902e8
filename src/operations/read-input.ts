import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { type Problem, problemsOf } from "../foundation/problems.ts";
import { unwrapped } from "./marks.ts";

/** The largest number of wrong members that an error names, and of characters of each name. */
const MAX_NAMED = 10;
const MAX_NAME_LENGTH = 100;
/** The number of items of a list that are checked at once. */
const ITEMS_AT_ONCE = 100;

/** @throws invalid_request that names the first members that are wrong or unknown. */
export function readInput<Schema extends z.ZodObject>(schema: Schema, input: unknown): z.output<Schema> {
  const wrong = firstWrongItems(schema, input, []);
  if (wrong !== null) throw refusalOf(wrong);
  const read = schema.safeParse(input);
  if (read.success) return read.data;
  throw refusalOf(problemsOf(read.error));
}

/**
 * Checks long lists in parts, and returns what is wrong with the first part that is. The library goes on to the last item and describes
 * each wrong one, which takes half a second for a list as long as a body may be.
 */
function firstWrongItems(
  schema: z.ZodType,
  input: unknown,
  path: readonly string[],
): readonly Problem[] | null {
  const inner = unwrapped(schema);
  if (Array.isArray(input)) return wrongItemsOf(inner, input, path);
  if (!(inner instanceof z.ZodObject) || typeof input !== "object" || input === null) return null;
  const members = inner.shape as Readonly<Record<string, z.ZodType>>;
  for (const [name, member] of Object.entries(members)) {
    if (!Object.hasOwn(input, name)) continue;
    const wrong = firstWrongItems(member, (input as Readonly<Record<string, unknown>>)[name], [
      ...path,
      name,
    ]);
    if (wrong !== null) return wrong;
  }
  return null;
}

function wrongItemsOf(
  schema: z.ZodType,
  items: readonly unknown[],
  path: readonly string[],
): readonly Problem[] | null {
  if (!(schema instanceof z.ZodArray) || items.length <= ITEMS_AT_ONCE) return null;
  const list = z.array(schema.element);
  for (let from = 0; from < items.length; from += ITEMS_AT_ONCE) {
    const read = list.safeParse(items.slice(from, from + ITEMS_AT_ONCE));
    if (read.success) continue;
    return problemsOf(read.error).map((problem) => {
      const [index = "0", ...rest] = problem.path;
      return Object.assign(problem, { path: [...path, String(from + Number(index)), ...rest] });
    });
  }
  return null;
}

function refusalOf(problems: readonly Problem[]): FormsvcError {
  const details = new Map<string, string>();
  for (const { path, message, isUnknown } of problems) {
    const name = path.join(".").slice(0, MAX_NAME_LENGTH);
    if (!details.has(name) && details.size < MAX_NAMED)
      details.set(name, isUnknown ? "unknown member" : message);
  }
  const named = [...details].map(([name, message]) => (name === "" ? message : `${name}: ${message}`));
  return new FormsvcError("invalid_request", `the input is wrong: ${named.join("; ")}`, {
    details: Object.fromEntries(details),
  });
}
