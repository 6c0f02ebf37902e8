import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findStructureDifferences } from "./check-structure.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { migrationStatus } from "../migrate.ts";

/** A log of this size is a problem. It is normally copied into the database at about 16 MiB, so a reader must prevent that. */
const LARGE_LOG_BYTES = 268_435_456;
/** The least free space besides the size of the database, because a backup is made beside the database. */
const LEAST_FREE_BYTES = 268_435_456;

/** File systems on which a database is not safe, by their magic numbers in statfs(2). */
const UNSAFE_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x01021994, "tmpfs, which is gone after a restart of the machine"],
  [0x858458f6, "ramfs, which is gone after a restart of the machine"],
  [0x6969, "NFS, whose locks are not safe for SQLite"],
  [0x517b, "SMB, whose locks are not safe for SQLite"],
  [0xff534d42, "CIFS, whose locks are not safe for SQLite"],
  [0xfe534d42, "SMB, whose locks are not safe for SQLite"],
]);

/** The finding is always sound: opening has already checked the settings for durable commits. */
export function checkDurability(db: SqliteDatabase): Finding {
  const mode = `journal ${String(db.pragma("journal_mode"))}, synchronous ${String(db.pragma("synchronous"))}`;
  const unsafe = UNSAFE_FILE_SYSTEMS.get(statfsSync(dirname(db.path)).type);
  if (unsafe === undefined) return sound("database.durability", `${mode}; commits reach the disk`);
  return problem("database.durability", `it is on ${unsafe}`, "move the database to a disk of this machine");
}

/** Reads the whole file and checks it. */
export function checkIntegrity(db: SqliteDatabase): Finding {
  const found = String(db.pragma("integrity_check(1)"));
  if (found === "ok") return sound("database.integrity", "every page and index is sound");
  return problem("database.integrity", found, { kind: "replace_damaged_database" });
}

export function checkSchemaVersion(db: SqliteDatabase): Finding {
  const { version, latest, pending } = migrationStatus(db);
  if (pending.length === 0) return sound("database.schema", `version ${version} of ${latest}`);
  return problem("database.schema", `version ${version} of ${latest}`, { kind: "upgrade_database" });
}

/** Checks the structure. If migrations are pending, the upgrade does so. */
export function checkStructure(db: SqliteDatabase): Finding {
  if (migrationStatus(db).pending.length > 0)
    return sound("database.structure", "compared when the database is brought up to date");
  const differences = db.readNow(() => findStructureDifferences(db));
  if (differences.length === 0)
    return sound("database.structure", "every table, index and trigger is as this version has it");
  return problem("database.structure", differences.join("; "), { kind: "undo_structure_change" });
}

export function checkLogSize(db: SqliteDatabase): Finding {
  const bytes = sizesOf(db).log;
  if (bytes < LARGE_LOG_BYTES) return sound("database.log", `the write-ahead log has ${mebibytes(bytes)}`);
  return problem(
    "database.log",
    `the write-ahead log has ${mebibytes(bytes)}`,
    "a process reads without end (a shell, a viewer, a stuck Litestream): end it",
  );
}

export function checkDiskSpace(db: SqliteDatabase): Finding {
  const free = freeDiskBytes(db);
  const needed = statSync(db.path).size + LEAST_FREE_BYTES;
  const { files, ffree } = statfsSync(dirname(db.path));
  const few = fewFiles(files, ffree);
  if (few !== null)
    return problem("disk.space", few, "delete files that nobody needs (df -i), or move the database");
  const message = `${mebibytes(free)} free beside a database of ${mebibytes(statSync(db.path).size)}`;
  if (free >= needed) return sound("disk.space", message);
  return problem("disk.space", message, `free at least ${mebibytes(needed - free)}, or move the database`);
}

/** A server makes some files at its start, and a backup or upgrade a few more. */
const LEAST_FREE_FILES = 50;

/** What is wrong if a disk takes hardly any further file, though it may have space; null if nothing is. @param files 0 if it has no bound */
function fewFiles(files: number, free: number): string | null {
  if (files === 0 || free >= LEAST_FREE_FILES) return null;
  return `the disk takes only ${free} further files, whatever their size`;
}

function freeDiskBytes(db: SqliteDatabase): number {
  const { bavail, bsize } = statfsSync(dirname(db.path));
  return bavail * bsize;
}

/** The size and the free bytes of the disk with the database; null if unknown. */
export function diskOf(db: SqliteDatabase): { readonly bytes: number; readonly free: number } | null {
  try {
    const { blocks, bavail, bsize } = statfsSync(dirname(db.path));
    return { bytes: blocks * bsize, free: bavail * bsize };
  } catch {
    return null;
  }
}

/** The bytes that the database may still take: free space of the disk and free pages of its file; null if unknown. */
export function freeBytes(db: SqliteDatabase): number | null {
  const ofFile = Number(db.pragma("freelist_count")) * Number(db.pragma("page_size"));
  try {
    return freeDiskBytes(db) + ofFile;
  } catch {
    return null;
  }
}

/** @param others further files that other users must not be able to read. */
export function checkFileModes(db: SqliteDatabase, others: readonly string[]): Finding {
  const files = [db.path, `${db.path}-wal`, `${db.path}-shm`, ...others];
  // On Windows the modes of files have no meaning.
  if (process.platform === "win32") return sound("files.modes", "not checked on Windows");
  const open = files.filter((file) => existsSync(file) && (statSync(file).mode & 0o077) !== 0);
  if (open.length > 0) {
    return problem("files.modes", `others may read ${open.join(", ")}`, `chmod 600 ${open.join(" ")}`);
  }
  const folder = dirname(db.path);
  if ((statSync(folder).mode & 0o1002) === 0o002) {
    return problem("files.modes", `everybody may write to ${folder}`, `chmod o-w ${folder}`);
  }
  return sound("files.modes", "only their owner may read the database and its copies");
}

/** The sizes of the database and of its write-ahead log, in bytes. */
export function sizesOf(db: SqliteDatabase): { readonly database: number; readonly log: number } {
  const log = statSync(`${db.path}-wal`, { throwIfNoEntry: false });
  return { database: statSync(db.path).size, log: log?.size ?? 0 };
}

/** Writes a number of bytes in MiB, rounded up. */
export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_048_576)} MiB`;
}
