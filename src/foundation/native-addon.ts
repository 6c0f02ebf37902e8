import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRawAsset } from "node:sea";

/**
 * Loads a native addon that the build embedded in the executable.
 *
 * The operating system can only load a library from a file, so the addon is written to a fresh private
 * folder, loaded, and removed again at once: nothing stays behind that somebody else could change. Folders
 * are tried in order because a temporary folder may be mounted `noexec` or be read-only under systemd.
 *
 * @throws Error naming every folder tried, when none lets a library be loaded.
 */
export function loadNativeAddon(name: string): unknown {
  const failures: string[] = [];
  for (const parent of addonFolders()) {
    try {
      return loadFrom(parent, name);
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

function loadFrom(parent: string, name: string): unknown {
  const folder = mkdtempSync(join(parent, "formsvc-"));
  try {
    const file = join(folder, name);
    writeFileSync(file, new Uint8Array(getRawAsset(name)), { mode: 0o700 });
    const loaded = { exports: {} };
    process.dlopen(loaded, file);
    return loaded.exports;
  } finally {
    // Windows keeps a loaded library locked; the folder is then left to the system's own clean-up.
    rmSync(folder, { recursive: true, force: true, maxRetries: 0 });
  }
}
