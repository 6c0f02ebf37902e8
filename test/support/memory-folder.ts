import { accessSync, constants, readFileSync, statfsSync } from "node:fs";

const FOLDER = "/dev/shm";
const GIB = 2 ** 30;
/** The smallest free space: several times what all tests together keep in the folder at once. */
const LEAST_ROOM_BYTES = 4 * GIB;
/** The smallest available memory. Files in the folder take memory, which the tests and their processes need too. */
const LEAST_MEMORY_BYTES = 8 * GIB;

/**
 * The folder in memory for the databases of the tests. On a disk, the tests would wait for it at each commit, more than ten thousand times.
 * Undefined if this machine has no such folder with enough room from which programs may run, or if `TMPDIR` names another folder.
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

/**
 * Whether programs may run from the folder. @param mounts one line for each mount: device, folder, type and options, with a space between
 * them
 */
function runsPrograms(mounts: string): boolean {
  const mount = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .findLast(([, folder]) => folder === FOLDER);
  return mount?.[2] === "tmpfs" && mount[3]?.split(",").includes("noexec") === false;
}
