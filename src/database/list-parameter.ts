import { type RawBuilder, sql } from "kysely";

/** The rows of a {@link listParameter}; the column `key` has the values as text. */
export const LIST = "json_each(?)";
/** A subquery with the values of a list parameter, for use after IN. PostgreSQL joins it. */
export const LISTED = `(SELECT key FROM ${LIST})`;
/**
 * The same for a column that has an index with few rows for each value. PostgreSQL looks each value up there: a join goes wrong if it
 * believes that the table is nearly empty, which `some-rows.ts` says more about. Without an index, an array is searched for each row.
 */
export const LISTED_IDS = `(SELECT key FROM ${LIST} AS ids)`;

const IN_LISTED_IDS = /\bin (\(SELECT key FROM json_each\(\?\) AS ids\))/gi;

/** Writes a statement with {@link LISTED_IDS} as PostgreSQL must have it. */
export function lookUpListed(sql: string): string {
  return sql.includes(LISTED_IDS) ? sql.replaceAll(IN_LISTED_IDS, "= ANY (ARRAY$1)") : sql;
}

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

/** {@link LISTED_IDS} together with its parameter, for statements of the query builder. */
export function listedIds(values: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT key FROM json_each(${listParameter(values)}) AS ids)`;
}
