import { type RawBuilder, sql } from "kysely";

/** The rows of a {@link listParameter}; the column `key` has the values as text. */
export const LIST = "json_each(?)";
/** A subquery with the values of a list parameter, for use after IN. */
export const LISTED = `(SELECT key FROM ${LIST})`;

/**
 * Encodes a list of any length as one parameter: a JSON object whose member names are the values. `json_each` of both engines reads an
 * object, in this order; only SQLite's also reads an array.
 */
export function listParameter(values: readonly (string | number)[]): string {
  return `{${values.map((value) => `${JSON.stringify(String(value))}:0`).join(",")}}`;
}

/** {@link LISTED} together with its parameter, for statements of the query builder. */
export function listed(values: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT key FROM json_each(${listParameter(values)}))`;
}
