import { findStructureDifferences } from "./check-structure.ts";
import Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";
import { translateDatabaseError } from "./database-error.ts";
import { APPLICATION_ID } from "./file-owner.ts";
import { migrations } from "../migrations.generated.ts";
import { newerSchema } from "../newer-schema.ts";

/** What was found in a copy of a database. */
export interface CheckedCopy {
  /** The schema version. */
  readonly version: number;
  readonly submissions: number;
  /** The number of files whose bytes are in a store outside the database. */
  readonly outsideFiles: number;
}

export interface CheckReport extends CheckedCopy {
  /** The differences of its structure from that of its version, one clause each. */
  readonly differences: readonly string[];
}

/** The largest number of problems that are named; a damaged file may have thousands. */
const MAX_NAMED_PROBLEMS = 3;

/**
 * Turns a copy into one closed file without a write-ahead log, and reads all of it: every page, index and reference.
 *
 * @param shown the name of the file in messages.
 * @throws database_unusable if it is not a formsvc database, is damaged, or comes from a newer version.
 */
export function checkCopy(file: string, shown: string): CheckReport {
  let connection: Driver.Database | undefined;
  try {
    connection = new Driver(file, { fileMustExist: true, timeout: 0 });
    // Whoever made the file may have put functions into what is computed when it is read.
    connection.pragma("trusted_schema = OFF");
    connection.pragma("journal_mode = DELETE");
    // SQLite says only when it writes that it does not know the format that the header names.
    connection.exec("BEGIN; PRAGMA user_version = 1; ROLLBACK");
    return inspect(connection, shown);
  } catch (error) {
    throw asDamage(error, shown);
  } finally {
    connection?.close();
  }
}

/** The copy was just made, so it can be written; SQLite says that it cannot if its header names an unknown format. */
function asDamage(error: unknown, shown: string): unknown {
  const translated = translateDatabaseError(error, shown);
  if (!(error instanceof Driver.SqliteError)) return translated;
  if (translated !== error && !error.code.startsWith("SQLITE_READONLY")) return translated;
  return new FormsvcError("database_unusable", `${shown}: damaged: ${error.message}`, { cause: error });
}

function inspect(connection: Driver.Database, shown: string): CheckReport {
  const version = Number(connection.pragma("user_version", { simple: true }));
  if (version === 0 || connection.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
    throw new FormsvcError("database_unusable", `${shown}: this is not a formsvc database`);
  }
  if (version > migrations.length) throw newerSchema(shown, version, migrations.length);
  const differences = findStructureDifferences(connection);
  // If the tables are not ours, the check of references itself may fail.
  const orphans = differences.length === 0 ? lostReferences(connection) : [];
  const problems = [...integrityProblems(connection), ...orphans];
  if (problems.length > 0) {
    throw new FormsvcError("database_unusable", `${shown}: damaged: ${problems.join("; ")}`);
  }
  const counts = { submissions: countSubmissions(connection), outsideFiles: countOutsideFiles(connection) };
  return { version, ...counts, differences };
}

function countOutsideFiles(connection: Driver.Database): number {
  const column = "SELECT 1 FROM pragma_table_info('file') WHERE name = 'object_id'";
  if (connection.prepare(column).get() === undefined) return 0;
  return Number(connection.prepare("SELECT count(*) FROM file WHERE object_id IS NOT NULL").pluck().get());
}

function countSubmissions(connection: Driver.Database): number {
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'submission'";
  if (connection.prepare(table).get() === undefined) return 0;
  return Number(connection.prepare("SELECT count(*) FROM submission").pluck().get());
}

/** Reads every page, and returns up to three problems that SQLite finds; none if the file is sound. */
function integrityProblems(connection: Driver.Database): string[] {
  const rows = connection.pragma(`integrity_check(${MAX_NAMED_PROBLEMS})`) as { integrity_check: string }[];
  return rows.map((row) => row.integrity_check).filter((line) => line !== "ok");
}

function lostReferences(connection: Driver.Database): string[] {
  const orphans = connection.pragma("foreign_key_check") as { table: string; parent: string }[];
  const first = orphans[0];
  if (first === undefined) return [];
  return [`${orphans.length} rows refer to nothing (first: ${first.table} to ${first.parent})`];
}
