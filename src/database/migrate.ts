import { existsSync } from "node:fs";
import { sql } from "kysely";
import { FormsvcError } from "../foundation/errors.ts";
import { createPrivately, type Database, query } from "./database.ts";
import { migrations } from "./migrations.generated.ts";

/** Marks the file as formsvc's in its header: "fsvc" in ASCII. */
export const APPLICATION_ID = 0x66737663;

export interface MigrationStatus {
  /** Number of the last migration that the file has; 0 for a new file. */
  readonly version: number;
  /** Number of the last migration that this program has. */
  readonly latest: number;
  /** File names of the migrations that are still to run, in order. */
  readonly pending: readonly string[];
}

export interface MigrationResult extends MigrationStatus {
  /** The copy of the database from before, or null where nothing ran or the file was new. */
  readonly keptCopy: string | null;
}

/** @throws database_unusable when the file is another program's or from a newer formsvc. */
export function migrationStatus(db: Database): MigrationStatus {
  const version = Number(db.pragma("user_version"));
  const latest = migrations.length;
  if (version === 0 && tableCount(db) > 0) {
    throw new FormsvcError("database_unusable", `${db.path}: this is another program's database`);
  }
  if (version > 0 && Number(db.pragma("application_id")) !== APPLICATION_ID) {
    throw new FormsvcError("database_unusable", `${db.path}: this is another program's database`);
  }
  if (version > latest) {
    throw new FormsvcError(
      "database_unusable",
      `${db.path}: made by a newer formsvc (schema ${version}; this one knows ${latest}); install that version or newer`,
    );
  }
  const pending = migrations.filter((migration) => migration.version > version).map(({ name }) => name);
  return { version, latest, pending };
}

/**
 * Brings the file to this program's schema, in one transaction, after keeping a copy of a file that holds data. Safe
 * for two processes at once: the second waits and finds nothing to do.
 */
export function migrate(db: Database): MigrationResult {
  const before = migrationStatus(db);
  if (before.pending.length === 0) return { ...before, keptCopy: null };
  const keptCopy = before.version === 0 ? null : keepCopy(db, before.version);
  db.transaction(() => applyPending(db));
  return { ...before, keptCopy };
}

/**
 * Does what {@link migrate} would do, with the data that is there, and takes it back: the file is as it was. Nobody
 * else can write meanwhile.
 *
 * @throws database_unusable when the result would not be sound.
 */
export function rehearseMigration(db: Database): MigrationStatus {
  const before = migrationStatus(db);
  const rehearsed = new Error("taken back");
  try {
    db.transaction(() => {
      applyPending(db);
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

function applyPending(db: Database): void {
  const { version } = migrationStatus(db);
  for (const migration of migrations.slice(version)) db.execute(migration.sql);
  db.execute(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length}`);
}

/** Litestream keeps tables of its own in the file; they say nothing about whose it is. */
function tableCount(db: Database): number {
  const counted = sql<{ tables: number }>`
    SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_litestream%' ESCAPE '\\'
  `.compile(query);
  return db.first({ compile: () => counted })?.tables ?? 0;
}

function keepCopy(db: Database, version: number): string {
  const base = `${db.path}.schema-${version}`;
  let copy = base;
  for (let attempt = 1; existsSync(copy); attempt += 1) copy = `${base}.${attempt}`;
  createPrivately(copy);
  db.run({ compile: () => sql`VACUUM INTO ${copy}`.compile(query) });
  return copy;
}
