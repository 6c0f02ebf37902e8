import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect } from "vitest";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import type { Post } from "./poster.ts";

/** What a database holds, checked to be whole. */
export interface Stored {
  /** Ids by the number posted, in the order of commits. */
  readonly idsByNumber: ReadonlyMap<number, readonly string[]>;
  readonly ids: readonly string[];
  /** Ids of submissions with a file. */
  readonly withFile: readonly string[];
}

interface Row {
  readonly id: string;
  readonly data: string;
}

/**
 * Reads a database as the next server would find it, from a copy, so that the recovery after a crash is left to that
 * server. Nobody may write meanwhile.
 */
export function readStored(path: string): Stored {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-stored-"));
  try {
    for (const ending of ["", "-wal"]) {
      if (existsSync(path + ending)) copyFileSync(path + ending, join(folder, `copy.db${ending}`));
    }
    return checkStored(join(folder, "copy.db"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Proves that nothing in a database is half written: SQLite's own check, every reference, usage equal to the rows that
 * are stored, each remembered Idempotency-Key beside its submission, and every file with all its bytes beside its own.
 */
export function checkStored(path: string): Stored {
  const db = new SqliteDatabase(path);
  try {
    return checkContent(db);
  } finally {
    db.close();
  }
}

export function checkContent(db: SqliteDatabase.Database): Stored {
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(db.pragma("foreign_key_check")).toEqual([]);
  const rows = db.prepare("SELECT id, data FROM submission ORDER BY seq").all() as Row[];
  const used = db.prepare("SELECT coalesce(sum(used), 0) FROM usage").pluck().get();
  expect({ used }).toEqual({ used: rows.length });
  const orphans = db
    .prepare("SELECT count(*) FROM idempotency WHERE submission_id NOT IN (SELECT id FROM submission)")
    .pluck();
  expect({ keysWithoutSubmission: orphans.get() }).toEqual({ keysWithoutSubmission: 0 });
  checkFiles(db, rows);
  return asStored(rows);
}

interface NamedFile {
  readonly id: string;
  readonly sha256: string;
}

function filesIn({ data }: Row): readonly NamedFile[] {
  return (JSON.parse(data) as { cv?: readonly NamedFile[] }).cv ?? [];
}

/** Files whose post was cut off are there until they are an hour old; those of no submission, and chunks of no file, never. */
function checkFiles(db: SqliteDatabase.Database, rows: readonly Row[]): void {
  const named = rows.flatMap((row) => filesIn(row).map(({ id, sha256 }) => ({ id, sha256, of: row.id })));
  const sql = "SELECT id, sha256, submission_id AS of FROM file WHERE state <> 'storing' ORDER BY id";
  expect(db.prepare(sql).all()).toEqual(named.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
  const lost = db.prepare("SELECT count(*) FROM file_chunk WHERE file_id NOT IN (SELECT id FROM file)");
  expect({ chunksWithoutFile: lost.pluck().get() }).toEqual({ chunksWithoutFile: 0 });
  const chunks = db.prepare("SELECT bytes FROM file_chunk WHERE file_id = ? ORDER BY position").pluck();
  for (const { id, sha256 } of named) {
    const hash = createHash("sha256");
    for (const bytes of chunks.all(id) as Buffer[]) hash.update(bytes);
    expect({ id, sha256: hash.digest("hex") }).toEqual({ id, sha256 });
  }
}

/** The same proof of a PostgreSQL database, which may be written meanwhile. */
export async function readStoredOnPostgresql(address: string): Promise<Stored> {
  const client = await connectPlainly(address);
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const { rows } = await client.query<Row>("SELECT id, data FROM submission ORDER BY stored_by, id");
    const counts = await client.query<{ used: string; orphans: string }>(
      `SELECT coalesce((SELECT sum(used) FROM usage), 0) AS used,
         (SELECT count(*) FROM idempotency WHERE submission_id NOT IN (SELECT id FROM submission)) AS orphans`,
    );
    expect(counts.rows).toEqual([{ used: String(rows.length), orphans: "0" }]);
    return asStored(rows);
  } finally {
    await client.end();
  }
}

function asStored(rows: readonly Row[]): Stored {
  const idsByNumber = new Map<number, string[]>();
  for (const { id, data } of rows) {
    const { n } = JSON.parse(data) as { n: number };
    idsByNumber.set(n, [...(idsByNumber.get(n) ?? []), id]);
  }
  const withFile = rows.filter((row) => filesIn(row).length > 0).map(({ id }) => id);
  return { idsByNumber, ids: rows.map(({ id }) => id), withFile };
}

/** Nothing acknowledged is lost, and nothing is stored more often than it was sent. */
export function expectNothingLost(posts: readonly Post[], stored: Stored): void {
  const lost = posts.filter(({ n, id }) => id !== null && !(stored.idsByNumber.get(n) ?? []).includes(id));
  expect(lost).toEqual([]);
  const twice = [...stored.idsByNumber].filter(([, ids]) => ids.length > 1);
  expect(twice).toEqual([]);
}
