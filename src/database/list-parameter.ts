import { type RawBuilder, sql } from "kysely";

/** A parameter that is a JSON list of any length, as rows whose column `value` has its texts. `dialect.ts` has PostgreSQL's word for it. */
export const LIST = "json_each(?)";
/** What a column may be IN. */
export const LISTED = `(SELECT value FROM ${LIST})`;

/** {@link LISTED} with its parameter, for a statement that is built. */
export function listed(values: readonly string[]): RawBuilder<string> {
  return sql<string>`(SELECT value FROM json_each(${JSON.stringify(values)}))`;
}
