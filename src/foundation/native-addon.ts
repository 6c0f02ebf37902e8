import {
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRawAsset } from "node:sea";
import { systemClock } from "./clock.ts";

/**
 * Loads a native addon that the build embedded in the executable.
 *
 * The operating system can only load a library from a file. On Linux that is a file without a name: nobody else can change
 * it, and it disappears with the process, however that ends. On other systems it is in a fresh private folder, which is
 * removed at once. Folders are tried in order because a temporary folder may be mounted `noexec` or be read-only under systemd.
 *
 * @throws Error naming every folder tried, if no library can be loaded from any.
 */
export function loadNativeAddon(name: string): unknown {
  const failures: string[] = [];
  for (const parent of addonFolders()) {
    try {
      return loadWithoutName(parent, name) ?? loadFromFolder(parent, name);
    } catch (error) {
      failures.push(`${parent}: ${(error as Error).message}`);
    }
  }
  throw new Error(
    `cannot unpack ${name}; set TMPDIR to a writable folder that allows execution. Tried ${failures.join("; ")}`,
  );
}

function addonFolders(): string[] {
  const { RUNTIME_DIRECTORY, CACHE_DIRECTORY, STATE_DIRECTORY, XDG_RUNTIME_DIR, XDG_CACHE_HOME } =
    process.env;
  const systemd = [RUNTIME_DIRECTORY, CACHE_DIRECTORY, STATE_DIRECTORY].map((list) => list?.split(":")[0]);
  const candidates = [tmpdir(), ...systemd, XDG_RUNTIME_DIR, XDG_CACHE_HOME, "/dev/shm", process.cwd()];
  return [...new Set(candidates.filter((folder): folder is string => Boolean(folder)))];
}

/** `O_TMPFILE`, which Node does not name. Linux has this value on every processor that formsvc is built for. */
const WITHOUT_NAME = 0o20_000_000 | (constants.O_DIRECTORY ?? 0);

/** Null if the system or the folder's file system has no such files, or does not load from them. */
function loadWithoutName(parent: string, name: string): unknown {
  if (process.platform !== "linux") return null;
  let fd: number | undefined;
  try {
    fd = openSync(parent, WITHOUT_NAME | constants.O_RDWR, 0o700);
    writeFileSync(fd, new Uint8Array(getRawAsset(name)));
    // Left open: if the next addon got the same descriptor number, the loader would take it for this one.
    return load(`/proc/self/fd/${fd}`);
  } catch {
    if (fd !== undefined) closeSync(fd);
    return null;
  }
}

function loadFromFolder(parent: string, name: string): unknown {
  removeLeftFolders(parent);
  const folder = mkdtempSync(join(parent, FOLDER_PREFIX));
  try {
    const file = join(folder, name);
    writeFileSync(file, new Uint8Array(getRawAsset(name)), { mode: 0o700 });
    return load(file);
  } finally {
    // Windows keeps a loaded library locked; the folder is then left to a later start.
    rmSync(folder, { recursive: true, force: true, maxRetries: 0 });
  }
}

function load(file: string): unknown {
  const loaded = { exports: {} };
  process.dlopen(loaded, file);
  return loaded.exports;
}

const FOLDER_PREFIX = "formsvc-addon-";
/** Loading takes milliseconds: a folder as old as this was left by a start that was killed. */
const LEFT_AFTER_MS = 60_000;

function removeLeftFolders(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    try {
      const folder = join(parent, name);
      const { mtimeMs, uid } = lstatSync(folder);
      const isOwn = process.getuid === undefined || uid === process.getuid();
      if (isOwn && systemClock.now() - mtimeMs > LEFT_AFTER_MS)
        rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another start removes it too, or a running process has the library open on Windows.
    }
  }
}
