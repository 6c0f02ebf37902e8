/** The largest size of a schema definition as JSON, in bytes. */
export const MAX_DEFINITION_BYTES = 65_536;
/** The largest depth of objects and arrays in a definition: those of the fields, and those inside a default or enum. */
const MAX_DEFINITION_DEPTH = 32;

/**
 * Says why a value cannot be a definition, before anything in it is read: it is not JSON, too deep or too large. Returns undefined if it
 * may be one; then it is safe to walk it by recursion.
 */
export function findJsonProblem(input: unknown): string | undefined {
  let count = 0;
  const pending: [unknown, number][] = [[input, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, depth] = next;
    // Every value takes at least one byte, so the walk ends soon for any input.
    count += 1;
    if (count > MAX_DEFINITION_BYTES) return TOO_LARGE;
    if (depth > MAX_DEFINITION_DEPTH) return `must not nest deeper than ${MAX_DEFINITION_DEPTH} levels`;
    if (typeof value === "object" && value !== null) {
      for (const member of Object.values(value)) pending.push([member, depth + 1]);
    } else if (!isJsonScalar(value)) {
      return "must be JSON, with finite numbers only";
    }
  }
  return Buffer.byteLength(JSON.stringify(input)) > MAX_DEFINITION_BYTES ? TOO_LARGE : undefined;
}

const TOO_LARGE = `must not be larger than ${MAX_DEFINITION_BYTES} bytes of JSON; shorten descriptions and enums`;

function isJsonScalar(value: unknown): boolean {
  return value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
}
