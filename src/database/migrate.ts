import { closeSync } from "node:fs";
import { FormsvcError } from "../foundation/errors.ts";
import { refuseDifferences } from "./sqlite/check-structure.ts";
import { removeCopy, syncFile } from "./sqlite/durable-file.ts";
import { moveToNewName } from "./sqlite/new-name.ts";
import { openNewFile } from "./sqlite/private-file.ts";
import type { SqliteDatabase } from "./sqlite/sqlite-database.ts";
import { APPLICATION_ID } from "./sqlite/file-owner.ts";
import { firstRows, migrations, structure } from "./migrations.generated.ts";
import { newerSchema } from "./newer-schema.ts";
import { compareStructure, structureAfter } from "./sqlite/structure.ts";

export interface MigrationStatus {
  /** The number of the last migration that the file has; 0 for a new file. */
  readonly version: number;
  /** The number of the last migration that this program has. */
  readonly latest: number;
  /** The file names of the migrations that must still run, in their order. */
  readonly pending: readonly string[];
}

export interface MigrationResult extends MigrationStatus {
  /** The copy of the database from before; null if no migration ran or the file was new. */
  readonly keptCopy: string | null;
}

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/** @throws database_unusable if the file is from a newer formsvc. */
export function migrationStatus(
  db: SqliteDatabase,
  known: readonly Migration[] = migrations,
): MigrationStatus {
  const version = Number(db.pragma("user_version"));
  const latest = known.length;
  if (version > latest) throw newerSchema(db.path, version, latest);
  const pending = known.filter((migration) => migration.version > version).map(({ name }) => name);
  return { version, latest, pending };
}

/** The {@link migrationStatus} of a file that does not exist yet. */
export function statusOfNewFile(): MigrationStatus {
  return { version: 0, latest: migrations.length, pending: migrations.map(({ name }) => name) };
}

/**
 * Upgrades the file to this program's schema, in one transaction. If the file has data, a copy of it is kept first. Several processes may
 * do this at the same time: the others wait and then find nothing to do.
 *
 * @throws database_unusable if the structure of the file is not that of its version.
 */
export function migrate(db: SqliteDatabase, known: readonly Migration[] = migrations): MigrationResult {
  const before = migrationStatus(db, known);
  if (before.pending.length === 0) return { ...before, keptCopy: null };
  const keptCopy = before.version === 0 ? null : keepCopy(db, before.version);
  try {
    const found = db.transactionNow(() => applyPending(db, known));
    if (found.pending.length > 0 || keptCopy === null) return { ...found, keptCopy };
    // Another process ran the migrations first, and kept its own copy.
    removeCopy(keptCopy);
    return { ...found, keptCopy: null };
  } catch (error) {
    // Nothing has changed, so the copy is not needed; otherwise each further start would keep one more.
    if (keptCopy !== null) removeCopy(keptCopy);
    throw error;
  }
}

/**
 * Runs {@link migrate} on the existing data and rolls it back, so that the file stays as it was. No other process can write meanwhile.
 *
 * @throws database_unusable if the result would not be sound.
 */
export function rehearseMigration(db: SqliteDatabase): MigrationStatus {
  const before = migrationStatus(db);
  const rehearsed = new Error("taken back");
  try {
    db.transactionNow(() => {
      applyPending(db, migrations);
      if (db.pragma("foreign_key_check") !== undefined) {
        throw new FormsvcError("database_unusable", `${db.path}: rows would refer to nothing`);
      }
      throw rehearsed;
    });
  } catch (error) {
    if (error !== rehearsed) throw error;
  }
  return before;
}

/** Runs the pending migrations, inside a transaction. */
function applyPending(db: SqliteDatabase, known: readonly Migration[]): MigrationStatus {
  const status = migrationStatus(db, known);
  if (status.version > 0 && status.pending.length > 0) {
    const expected = structureAfter(known.slice(0, status.version));
    refuseDifferences(compareStructure(db, expected), db.path);
  }
  for (const sql of statementsFrom(status.version, known)) db.execute(sql);
  db.execute(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${known.length}`);
  return status;
}

/**
 * The statements that upgrade a file from this version to the newest. A new file gets the final tables directly, in a tenth of the time.
 */
function statementsFrom(version: number, known: readonly Migration[]): readonly string[] {
  if (version === 0 && known === migrations) return [...structure.map(({ sql }) => sql), ...firstRows];
  return known.slice(version).map(({ sql }) => sql);
}

/**
 * Copies the database beside itself. The copy gets its name when it is whole and on the disk, so that a process that is killed leaves an
 * unfinished file, which nobody takes for a copy.
 */
function keepCopy(db: SqliteDatabase, version: number): string {
  const base = `${db.path}.schema-${version}`;
  const unfinished = `${base}.unfinished-${process.pid}`;
  try {
    // An earlier process with the same id may have left such a file.
    removeCopy(unfinished);
    closeSync(openNewFile(unfinished));
    db.readNow(() => db.prepare("VACUUM INTO ?").run(unfinished));
    syncFile(unfinished);
    return moveToFreeName(unfinished, base);
  } finally {
    removeCopy(unfinished);
  }
}

/** Gives a file this name, or with a number behind it if another file has it. */
function moveToFreeName(file: string, base: string): string {
  for (let attempt = 0; ; attempt += 1) {
    const target = attempt === 0 ? base : `${base}.${attempt}`;
    try {
      moveToNewName(file, target);
      return target;
    } catch (error) {
      if (!(error instanceof FormsvcError) || error.code !== "already_exists") throw error;
    }
  }
}
