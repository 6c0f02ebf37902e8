import type { TableName } from "./copy-tables.ts";
import { byEngine, type TextsByEngine } from "./steps.ts";

/*
 * Rows that a selection names. For `IN` PostgreSQL makes a join, and if it believes that the table is nearly empty, as after an analysis that
 * saw it empty, that join compares each row with each selected one: 500 rows among 100,000 took minutes. An array is no join: each of its
 * values is looked up.
 */

/** A condition that holds for the rows whose column is in a selection. The column needs an index. */
export function among(engine: keyof TextsByEngine, column: string, select: string): string {
  return engine === "sqlite" ? `${column} IN (${select})` : `${column} = ANY (ARRAY(${select}))`;
}

/**
 * A statement that deletes those rows of a table that a selection of its rows finds. PostgreSQL is given their places in the table.
 *
 * @param key the columns of the primary key. @param select makes the selection; its argument is what must be selected
 */
export function deleteSome(
  table: TableName,
  key: readonly string[],
  select: (columns: string) => string,
): TextsByEngine {
  const columns = key.join(", ");
  return byEngine((engine) =>
    engine === "sqlite"
      ? `DELETE FROM ${table} WHERE (${columns}) IN (${select(columns)})`
      : `DELETE FROM ${table} WHERE ${among(engine, "ctid", select("ctid"))}`,
  );
}
