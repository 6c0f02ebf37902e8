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
  /** The file, or the address without its password. */
  readonly to: string;
  /** The number of its last migration. */
  readonly version: number;
  readonly tables: readonly CopiedTable[];
}

export interface MadeFile extends MadeCopy {
  readonly bytes: number;
  /** Files whose bytes are in a store outside the database. */
  readonly outsideFiles: number;
  /** Files whose bytes are not in it; absent if it has everything. */
  readonly leftOutFiles?: number;
}

/**
 * Copies every row, as they were at one moment, into a new file, and compares. The file has its name only when it is whole.
 *
 * @param onProgress called with the rows copied so far. @throws as {@link makeWhole} and {@link copyTables}
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
 * Copies every row, as they were at one moment, into a PostgreSQL database that holds nothing yet, and compares.
 *
 * @throws already_exists if it holds anything; as {@link copyTables}
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
