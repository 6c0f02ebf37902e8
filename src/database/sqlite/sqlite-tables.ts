import { rowsAtOnce, type TableReader, type TableWriter } from "../copy-tables.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** Reads the tables as they are now, even while a server writes. */
export async function readSqliteTables<Result>(
  db: SqliteDatabase,
  work: (reader: TableReader) => Promise<Result>,
): Promise<Result> {
  db.execute("BEGIN");
  try {
    return await work(createReader(db));
  } finally {
    db.execute("ROLLBACK");
  }
}

/** Fills a new file. If `work` throws, it stays empty. */
export async function fillSqliteTables<Result>(
  db: SqliteDatabase,
  work: (writer: TableWriter) => Promise<Result>,
): Promise<Result> {
  db.execute("BEGIN IMMEDIATE");
  try {
    const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as {
      readonly name: string;
      readonly sql: string;
    }[];
    for (const { name } of triggers) db.execute(`DROP TRIGGER ${name}`);
    // A new file has one row in this table, and no other row.
    db.execute("DELETE FROM settings_version");
    const result = await work(createWriter(db));
    for (const { sql } of triggers) db.execute(sql);
    db.execute("COMMIT");
    return result;
  } catch (error) {
    db.execute("ROLLBACK");
    throw error;
  }
}

function createReader(db: SqliteDatabase): TableReader {
  return {
    columns: async (table) =>
      db.readNow(() => db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table) as string[]),
    async *read(table, columns) {
      const order = table === "submission" ? " ORDER BY seq" : "";
      const statement = db.readNow(() => db.prepare(`SELECT ${list(columns)} FROM ${table}${order}`).raw());
      let rows: unknown[][] = [];
      for (const row of statement.iterate()) {
        rows.push(row as unknown[]);
        if (rows.length < rowsAtOnce(table)) continue;
        yield rows;
        rows = [];
      }
      yield rows;
    },
  };
}

function createWriter(db: SqliteDatabase): TableWriter {
  return {
    ...createReader(db),
    async write(table, columns, rows) {
      const placeholders = columns.map(() => "?").join(", ");
      const insert = db.prepare(`INSERT INTO ${table} (${list(columns)}) VALUES (${placeholders})`);
      db.readNow(() => rows.forEach((values) => insert.run(...values)));
    },
    storable: (value) => value,
  };
}

function list(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}
