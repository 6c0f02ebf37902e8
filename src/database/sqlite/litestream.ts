import type { SqliteDatabase } from "./sqlite-database.ts";

/** Whether Litestream replicates the file, or did so earlier: it creates two tables of its own in it. */
export function hasLitestream(db: SqliteDatabase): boolean {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq'";
  return db.readNow(() => db.prepare(table).get()) !== undefined;
}
