import { accessSync, constants, readFileSync, statfsSync } from "node:fs";

const FOLDER = "/dev/shm";
const GIB = 2 ** 30;
/** What all tests together keep there at once, and several times as much. */
const LEAST_ROOM_BYTES = 4 * GIB;
/** Files there take memory, which the tests and their processes need too. */
const LEAST_MEMORY_BYTES = 8 * GIB;

/**
 * A folder in memory for the databases of the tests: on a disk they wait for it at each commit, some ten thousand times. Undefined
 * if this machine has none with enough room from which programs may be run, or if `TMPDIR` names another folder.
 */
export function memoryFolder(): string | undefined {
  if (process.env["TMPDIR"] !== undefined) return undefined;
  try {
    accessSync(FOLDER, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(FOLDER);
    const hasRoom = bavail * bsize >= LEAST_ROOM_BYTES && process.availableMemory() >= LEAST_MEMORY_BYTES;
    return hasRoom && runsPrograms(readFileSync("/proc/self/mounts", "utf8")) ? FOLDER : undefined;
  } catch {
    return undefined;
  }
}

/** @param mounts lines of device, folder, type and options, each with a blank between them. */
function runsPrograms(mounts: string): boolean {
  const mount = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .findLast(([, folder]) => folder === FOLDER);
  return mount?.[2] === "tmpfs" && mount[3]?.split(",").includes("noexec") === false;
}
