import type { Database } from "../../src/database/database.ts";
import { all, run, text } from "../../src/database/steps.ts";
import { temporaryDatabase } from "./temporary-database.ts";
import { hasPostgresql, temporaryPostgresql } from "./temporary-postgresql.ts";

interface Engine {
  readonly name: string;
  /** Makes an empty, migrated database, which is removed after the test. */
  readonly temporary: () => Promise<Database>;
}

const sqlite: Engine = { name: "SQLite", temporary: () => Promise.resolve(temporaryDatabase()) };
const postgresql: Engine = { name: "PostgreSQL", temporary: temporaryPostgresql };

/** Every engine that is installed here, for `describe.each`: a store must keep its promises on each engine. */
export const ENGINES: readonly Engine[] = hasPostgresql ? [sqlite, postgresql] : [sqlite];

/** Reads the rows of a statement whose SQL both engines accept. */
export function rowsOf<Row>(db: Database, sql: string): Promise<Row[]> {
  return db.read(() => all(text<Row>(sql)));
}

/** Runs statements whose SQL both engines accept. */
export async function write(db: Database, ...statements: readonly string[]): Promise<void> {
  await db.transaction(function* () {
    for (const sql of statements) yield* run(text(sql));
  });
}
