import {
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRawAsset } from "node:sea";
import { systemClock } from "./clock.ts";
import { FormsvcError } from "./errors.ts";

/**
 * Loads a native addon that the build embedded in the executable.
 *
 * The operating system can only load a library from a file. On Linux the addon is first tried as a file without a name in a folder, then as
 * a file in memory: nobody else can change it, and it disappears with the process, however that ends. On other systems it is a file in a
 * fresh private folder, which is removed at once. Several folders are tried, because a temporary folder may be mounted `noexec` or be
 * read-only under systemd.
 *
 * @throws FormsvcError failed, naming everything tried, if no library can be loaded from anywhere.
 */
export function loadNativeAddon(name: string): unknown {
  const folders = addonFolders();
  const isLinux = process.platform === "linux";
  const ways: (() => unknown)[] = [
    ...folders.map((folder) => () => (isLinux ? loadWithoutName(folder, name) : null)),
    () => (isLinux ? loadFromMemory(name) : null),
    ...folders.map((folder) => () => loadFromFolder(folder, name)),
  ];
  const failures: string[] = [];
  for (const load of ways) {
    try {
      const loaded = load();
      if (loaded !== null) return loaded;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new FormsvcError(
    "failed",
    `cannot unpack ${name}; set TMPDIR to a folder of your own that is writable and not mounted noexec. Tried: ${failures.join("; ")}`,
  );
}

const files = new Map<string, string>();

/**
 * The file that an addon of this process was loaded from; undefined if this process has not loaded it. Another thread that loads this file
 * gets the same library. That fails if the file is gone and the system does not remember it.
 */
export function loadedFrom(name: string): string | undefined {
  return files.get(name);
}

function addonFolders(): readonly string[] {
  const { RUNTIME_DIRECTORY, CACHE_DIRECTORY, STATE_DIRECTORY, XDG_RUNTIME_DIR, XDG_CACHE_HOME } =
    process.env;
  const systemd = [RUNTIME_DIRECTORY, CACHE_DIRECTORY, STATE_DIRECTORY].map((list) => list?.split(":")[0]);
  const candidates = [tmpdir(), ...systemd, XDG_RUNTIME_DIR, XDG_CACHE_HOME, "/dev/shm", process.cwd()];
  return [...new Set(candidates.filter((folder): folder is string => Boolean(folder)))];
}

/** `O_TMPFILE`, which Node has no name for. Linux has this value on every processor that formsvc is built for. */
const WITHOUT_NAME = 0o20_000_000 | (constants.O_DIRECTORY ?? 0);

/** Null if the system or the folder's file system has no files without a name, or does not load from them. */
function loadWithoutName(parent: string, name: string): unknown {
  try {
    return loadFromDescriptor(openSync(parent, WITHOUT_NAME | constants.O_RDWR, 0o700), name);
  } catch {
    return null;
  }
}

/** `MFD_CLOEXEC`. */
const CLOSE_ON_EXEC = 1;

/**
 * Loads an addon from a file in memory, if no folder can be used. Node has no function for such a file, and its way to call the C library
 * is experimental: so this is tried after the folders, and Node's warning is not printed, because nobody can act on it.
 *
 * @throws Error if the system refuses it, as it does with `vm.memfd_noexec=2`.
 */
function loadFromMemory(name: string): unknown {
  try {
    return loadFromDescriptor(createMemoryFile(name), name);
  } catch (error) {
    throw new Error(`memory: ${(error as Error).message}`, { cause: error });
  }
}

function createMemoryFile(name: string): number {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    const ffi = createRequire(process.execPath)("node:ffi") as ForeignFunctions;
    const { functions } = ffi.dlopen(null, {
      memfd_create: { arguments: ["string", "uint32"], return: "int32" },
    });
    const fd = functions.memfd_create(name, CLOSE_ON_EXEC);
    if (fd < 0) throw new Error("the system makes no file in memory");
    return fd;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The part of `node:ffi` that is used; Node's types do not declare it yet. */
interface ForeignFunctions {
  dlopen(
    library: null,
    functions: Readonly<Record<"memfd_create", { arguments: readonly string[]; return: string }>>,
  ): { readonly functions: { memfd_create(name: string, flags: number): number } };
}

function loadFromDescriptor(fd: number, name: string): unknown {
  try {
    writeFileSync(fd, new Uint8Array(getRawAsset(name)));
    // The descriptor stays open: if the next addon got the same number, the loader would take it for this one.
    return load(`/proc/self/fd/${fd}`, name);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** @throws Error naming the folder if it cannot be used. */
function loadFromFolder(parent: string, name: string): unknown {
  try {
    refuseForeign(parent);
    removeLeftFolders(parent);
    const folder = mkdtempSync(join(parent, FOLDER_PREFIX));
    try {
      const file = join(folder, name);
      writeFileSync(file, new Uint8Array(getRawAsset(name)), { mode: 0o700 });
      return load(file, name);
    } finally {
      // Windows keeps a loaded library locked, so a later start removes the folder.
      rmSync(folder, { recursive: true, force: true, maxRetries: 0 });
    }
  } catch (error) {
    throw new Error(`${parent}: ${(error as Error).message}`, { cause: error });
  }
}

const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Refuses a folder in which another user could replace our library before it is loaded. Its owner could, and everybody who may write to it,
 * unless it is sticky.
 */
function refuseForeign(folder: string): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  const { uid, mode } = statSync(folder);
  if (uid !== own && uid !== 0) throw new Error(`the folder belongs to another user (uid ${uid})`);
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)
    throw new Error("other users may write to the folder");
}

function load(file: string, name: string): unknown {
  const loaded = { exports: {} };
  process.dlopen(loaded, file);
  files.set(name, file);
  return loaded.exports;
}

const FOLDER_PREFIX = "formsvc-addon-";
/** Loading takes milliseconds, so a folder of this age was left by a start that was killed. */
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
      // Another start removes the folder at the same time, or a running process has the library open on Windows.
    }
  }
}
