import { type RawBuilder, sql } from "kysely";

/** A {@link listParameter}, as rows whose column `key` has its texts. */
export const LIST = "json_each(?)";
/** What a column may be IN. */
export const LISTED = `(SELECT key FROM ${LIST})`;

/**
 * A list of any length as one parameter: a JSON object whose members have the names of the list. Both engines read an object by
 * `json_each`, in this order; of an array only SQLite does.
 */
export function listParameter(values: readonly (string | number)[]): string {
  return `{${values.map((value) => `${JSON.stringify(String(value))}:0`).join(",")}}`;
}

/** {@link LISTED} with its parameter, for a statement that is built. */
export function listed(values: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT key FROM json_each(${listParameter(values)}))`;
}
