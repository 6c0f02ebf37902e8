import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type CopiedTable, copyTables, type TableReader } from "./copy-tables.ts";
import { migrate } from "./migrate.ts";
import type { AnyDatabase } from "./any-database.ts";
import type { PostgresqlDatabase } from "./postgresql/open-postgresql.ts";
import { leaveFilesOut, makeWhole } from "./sqlite/back-up.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "./sqlite/open-database.ts";
import { fillSqliteTables, readSqliteTables } from "./sqlite/sqlite-tables.ts";

export interface MadeCopy {
  /** The path of the file, or the address of the database without its password. */
  readonly to: string;
  /** The number of the last migration of the copy. */
  readonly version: number;
  readonly tables: readonly CopiedTable[];
}

export interface MadeFile extends MadeCopy {
  readonly bytes: number;
  /** The number of files whose bytes are in a store outside the database. */
  readonly outsideFiles: number;
  /** The number of files whose bytes were left out of the copy; absent if none were. */
  readonly leftOutFiles?: number;
}

/**
 * Copies all rows, as they were at one moment, into a new file, and compares the copy. The file gets its name only when it is complete.
 *
 * @param onProgress called with the number of rows copied so far. @throws as {@link makeWhole} and {@link copyTables} do
 */
export async function copyToFile(
  from: AnyDatabase,
  target: string,
  onProgress: (rows: number) => void,
  isWithoutFiles = false,
): Promise<MadeFile> {
  let leftOutFiles: number | undefined;
  let tables: readonly CopiedTable[] = [];
  const { version, outsideFiles } = await makeWhole(target, async (unfinished) => {
    const to = openDatabase(unfinished, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
    try {
      migrate(to);
      tables = await readTables(from, (reader) =>
        fillSqliteTables(to, (writer) => copyTables(reader, writer, onProgress)),
      );
    } finally {
      to.close();
    }
    if (isWithoutFiles) leftOutFiles = leaveFilesOut(unfinished, target);
  });
  const file = resolve(target);
  const made = { to: file, version, tables, outsideFiles, bytes: statSync(file).size };
  return leftOutFiles === undefined ? made : { ...made, leftOutFiles };
}

/**
 * Copies all rows, as they were at one moment, into an empty PostgreSQL database, and compares the copy.
 *
 * @throws already_exists if the database is not empty; as {@link copyTables} does
 */
export async function copyToPostgresql(
  from: AnyDatabase,
  to: PostgresqlDatabase,
  onProgress: (rows: number) => void,
): Promise<MadeCopy> {
  const { fillPostgresqlTables } = await import("./postgresql/postgresql-tables.ts");
  const { migratePostgresql } = await import("./postgresql/migrate-postgresql.ts");
  const { latest } = await migratePostgresql(to);
  const tables = await readTables(from, (reader) =>
    fillPostgresqlTables(to, (writer) => copyTables(reader, writer, onProgress)),
  );
  return { to: to.name, version: latest, tables };
}

async function readTables<Result>(
  from: AnyDatabase,
  work: (reader: TableReader) => Promise<Result>,
): Promise<Result> {
  if (from.engine === "sqlite") return readSqliteTables(from, work);
  const { readPostgresqlTables } = await import("./postgresql/postgresql-tables.ts");
  return readPostgresqlTables(from, work);
}
