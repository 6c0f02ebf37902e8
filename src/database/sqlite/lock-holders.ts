import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";

/**
 * Lists the other processes of this machine that have a database open, such as `process 123 (litestream)`. Each has a lock on the shared
 * memory file beside the database, and Linux lists the holders of all locks.
 *
 * @returns an empty list if the system does not say.
 */
export function findHolders(databasePath: string): string[] {
  const files = [databasePath, `${databasePath}-shm`];
  const inodes = new Set(files.map((file) => String(statSync(file, { throwIfNoEntry: false })?.ino)));
  const pids = listLocks().filter(({ pid, inode }) => pid !== process.pid && inodes.has(inode));
  return [...new Set(pids.map(({ pid }) => pid))].map((pid) => `process ${pid}${commandOf(pid)}`);
}

/** A lock in the list of Linux. A process of another pid namespace has the id 0 or -1 there. */
const LOCK = /^\d+: \w+ +\w+ +\w+ +(\d+) [\da-f]+:[\da-f]+:(\d+) /gm;

function listLocks(): { readonly pid: number; readonly inode: string }[] {
  const found = read("/proc/locks").matchAll(LOCK);
  return [...found].map(([, pid, inode = ""]) => ({ pid: Number(pid), inode })).filter(({ pid }) => pid > 0);
}

/** The name of a program without its arguments, which may contain secrets. */
function commandOf(pid: number): string {
  const [program = ""] = read(`/proc/${pid}/cmdline`).split("\0");
  return program === "" ? "" : ` (${basename(program)})`;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
