import { FormsvcError } from "../../foundation/errors.ts";

const FULL = "the disk is full; free some space";

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: "this user's share of the disk is full; free some space",
  EIO: "the disk reports an error; check it before anything else",
  EROFS: "the disk is read-only",
  EACCES: "access is denied; check the owner and mode of the file and of its folder",
  EPERM: "access is denied; check the owner and mode of the file and of its folder",
};

/** If a copy fails with one of these codes, the system names the source of the copy, but the error is about writing. */
const OF_WRITING = new Set(["ENOSPC", "EDQUOT", "EROFS"]);

/**
 * Turns an error of the system about reading or writing a file into `failed`, with what to do. Other errors are returned unchanged.
 *
 * @param shown the file that is written. An error in reading may name another file.
 */
export function translateFileError(error: unknown, shown: string): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const { code = "", path = shown, message } = error as NodeJS.ErrnoException;
  const named = OF_WRITING.has(code) ? shown : path;
  return new FormsvcError("failed", `${named}: ${REASONS[code] ?? message}`, { cause: error });
}

export function fullDisk(file: string, cause: unknown): FormsvcError {
  return new FormsvcError("failed", `${file}: ${FULL}`, { cause });
}
