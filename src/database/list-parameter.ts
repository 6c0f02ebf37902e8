import { type RawBuilder, sql } from "kysely";

/** The rows of a {@link listParameter}; the column `key` has the values as text. */
export const LIST = "json_each(?)";
/** A subquery with the values of a list parameter, for use after IN. */
export const LISTED = `(SELECT key FROM ${LIST})`;

/** Matches a column that has an index with few rows for each value, compared with a list. */
const BY_KEY =
  /(?<![.\w])("?)(id|submission_id|held_id|file_id|row_hash)\1 in (\(SELECT key FROM json_each\(\?\)\))/gi;

/**
 * For PostgreSQL: compares ids with an array of the listed ones. For `IN` it makes a join, which `some-rows.ts` says more about. An array is
 * searched for each row if there is no index, so ids of endpoints and the like stay in a join.
 */
export function lookUpListed(sql: string): string {
  return sql.includes(LISTED) ? sql.replaceAll(BY_KEY, "$1$2$1 = ANY (ARRAY$3)") : sql;
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
