import { closeSync, existsSync, readFileSync, realpathSync, rmSync, writeSync } from "node:fs";
import { moveIntoPlace } from "./durable-file.ts";
import { openNewFile } from "./private-file.ts";

export interface LastBackup {
  readonly file: string;
  /** The time of the backup in ISO 8601. */
  readonly madeAt: string;
}

/** The path of a small file beside the database. Without it, a backup that was made by hand or by cron would be unknown. */
function noteOf(databasePath: string): string {
  return `${existsSync(databasePath) ? realpathSync(databasePath) : databasePath}-last-backup`;
}

/** @throws database_unusable if the note cannot be written. */
export function noteBackup(databasePath: string, backup: LastBackup): void {
  const note = noteOf(databasePath);
  const unfinished = `${note}.unfinished-${process.pid}`;
  rmSync(unfinished, { force: true });
  const fd = openNewFile(unfinished);
  try {
    writeSync(fd, `${JSON.stringify(backup)}\n`);
  } finally {
    closeSync(fd);
  }
  moveIntoPlace(unfinished, note);
}

/** The last backup; null if none was made, or if its note cannot be read. */
export function findLastBackup(databasePath: string): LastBackup | null {
  try {
    const { file, madeAt } = JSON.parse(readFileSync(noteOf(databasePath), "utf8")) as LastBackup;
    return { file, madeAt };
  } catch {
    return null;
  }
}
