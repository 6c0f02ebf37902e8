import { sql } from "kysely";
import { type Database, query } from "./database.ts";

/** Whether Litestream replicates the file, or did: it keeps two tables of its own there. */
export function hasLitestream(db: Database): boolean {
  const found = sql`SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq'`.compile(query);
  return db.first({ compile: () => found }) !== undefined;
}
