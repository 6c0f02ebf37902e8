import type { Database } from "../../src/database/database.ts";
import { all, run, text } from "../../src/database/steps.ts";
import { temporaryDatabase } from "./temporary-database.ts";
import { hasPostgresql, temporaryPostgresql } from "./temporary-postgresql.ts";

interface Engine {
  readonly name: string;
  /** An empty database that is brought up to date and gone after the test. */
  readonly temporary: () => Promise<Database>;
}

const sqlite: Engine = { name: "SQLite", temporary: () => Promise.resolve(temporaryDatabase()) };
const postgresql: Engine = { name: "PostgreSQL", temporary: temporaryPostgresql };

/** Every engine that is here, for `describe.each`: what a store promises it promises on each. */
export const ENGINES: readonly Engine[] = hasPostgresql ? [sqlite, postgresql] : [sqlite];

/** What a statement in both engines' SQL gives. */
export function rowsOf<Row>(db: Database, sql: string): Promise<Row[]> {
  return db.read(() => all(text<Row>(sql)));
}

/** Runs statements in both engines' SQL. */
export async function write(db: Database, ...statements: readonly string[]): Promise<void> {
  await db.transaction(function* () {
    for (const sql of statements) yield* run(text(sql));
  });
}
