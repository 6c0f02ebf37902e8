import { isUtf8 } from "node:buffer";
import { FormsvcError } from "../../foundation/errors.ts";

export type JsonObject = Record<string, unknown>;

/** The largest depth of nested objects and arrays; the body itself is the first level. */
const MAX_BODY_DEPTH = 32;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses the body as JavaScript parses JSON: the last of duplicate members counts, and a leading byte order mark is ignored. Lone
 * surrogates become U+FFFD, and members named `__proto__` are dropped, at every level.
 *
 * @throws invalid_json saying what is wrong; the message repeats nothing of the body except a position.
 */
export function parseBody(body: Uint8Array): JsonObject {
  if (!isUtf8(body)) throw invalid("The body is not valid UTF-8.");
  const decoded = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  const text = decoded.charCodeAt(0) === BYTE_ORDER_MARK ? decoded.slice(1) : decoded;
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("The body is not a JSON object; send the fields as members of one object.");
  }
  // Valid UTF-8 holds no lone surrogate; only an escape can write one.
  clean(value as JsonObject, 1, text.includes("\\u") || text.includes("\\U"));
  return value as JsonObject;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw invalid(tooDeep);
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const where = position === undefined ? "" : ` at character ${position}`;
    throw invalid(
      text.trim() === ""
        ? "The body is empty; send a JSON object."
        : `The body is not JSON: it breaks off or goes wrong${where}.`,
    );
  }
}

const tooDeep = `The body nests deeper than ${MAX_BODY_DEPTH} levels.`;

/** Checks a container and corrects it in place, with everything inside. */
function clean(container: JsonObject | unknown[], depth: number, mendText: boolean): void {
  if (depth > MAX_BODY_DEPTH) throw invalid(tooDeep);
  if (Array.isArray(container)) {
    for (let index = 0; index < container.length; index += 1) {
      container[index] = cleanValue(container[index], depth, mendText);
    }
    return;
  }
  for (const name of Object.keys(container)) {
    const value = cleanValue(container[name], depth, mendText);
    if (name === "__proto__") delete container[name];
    else container[name] = value;
  }
  if (mendText) mendNames(container);
}

/** Replaces lone surrogates in names. If names become equal, the last one counts. */
function mendNames(container: JsonObject): void {
  const members = Object.entries(container);
  if (members.every(([name]) => name.isWellFormed())) return;
  for (const [name] of members) delete container[name];
  for (const [name, value] of members) container[name.toWellFormed()] = value;
}

/**
 * Describes what is wrong with JSON from another source by the rules for bodies; undefined if nothing is. @param depth the level of the
 * value; the root is 1.
 */
export function findUnfit(value: unknown, depth = 1): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value))
    return "has a number beyond the range of a 64-bit float";
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > MAX_BODY_DEPTH) return `nests deeper than ${MAX_BODY_DEPTH} levels`;
  for (const member of Object.values(value)) {
    const unfit = findUnfit(member, depth + 1);
    if (unfit !== undefined) return unfit;
  }
  return undefined;
}

function cleanValue(value: unknown, depth: number, mendText: boolean): unknown {
  if (typeof value === "string") return mendText ? value.toWellFormed() : value;
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw invalid("The body has a number beyond the range of a 64-bit float.");
  }
  if (typeof value === "object" && value !== null)
    clean(value as JsonObject | unknown[], depth + 1, mendText);
  return value;
}

function invalid(message: string): FormsvcError {
  return new FormsvcError("invalid_json", message);
}
