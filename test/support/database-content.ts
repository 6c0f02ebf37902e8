import { COPIED_TABLES } from "../../src/database/copy-tables.ts";
import { type Database, query } from "../../src/database/database.ts";
import { all } from "../../src/database/steps.ts";

/**
 * Reads every row of every table, in an order that does not depend on the engine. Columns that differ between engines are null: the order
 * of commits and the server that sends.
 */
export async function contentOf(db: Database): Promise<Record<string, unknown>> {
  const content: Record<string, unknown> = {};
  for (const table of COPIED_TABLES) {
    const rows = await db.read(() => all(query.selectFrom(table).selectAll()));
    content[table] = rows
      .map((row) =>
        JSON.stringify(sorted({ ...row, seq: null, stored_by: null, stored_after: null, claimed_by: null })),
      )
      .toSorted();
  }
  return content;
}

const sorted = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).toSorted(([one], [other]) => one.localeCompare(other)));
