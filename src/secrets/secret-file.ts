import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { type ErrorFacts, FormsvcError } from "../foundation/errors.ts";
import type { Hint } from "../foundation/hint.ts";

const MAX_FILE_BYTES = 65_536;

const UNREAD: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "cannot be read by this user; change its owner (chown)",
  EISDIR: "is a folder, not a file",
};

/**
 * Reads a file that the configuration names, and that only its owner and group may read.
 *
 * @param setting the setting that names the file, for the error. @param missing what to do if the file does not exist; null for no advice.
 * @throws config_invalid that says what is wrong with the file.
 */
export function readSecretFile(setting: string, file: string, missing: Hint | null = null): string {
  const refuse = (problem: string, facts: ErrorFacts = {}): FormsvcError =>
    new FormsvcError("config_invalid", `${setting}: ${file}: ${problem}`, facts);
  let fd: number | undefined;
  try {
    fd = openSync(file, "r");
    const { mode, size } = fstatSync(fd);
    // On Windows the mode says nothing.
    if ((mode & 0o007) !== 0 && process.platform !== "win32")
      throw refuse(`everybody may read it; close it with: chmod 600 ${file}`);
    if (size > MAX_FILE_BYTES) throw refuse(`is too large; it may have ${MAX_FILE_BYTES} bytes at most`);
    return readFileSync(fd, "utf8");
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    const hint = code === "ENOENT" && missing !== null ? { hint: missing } : {};
    throw refuse(UNREAD[code] ?? message, { cause: error, ...hint });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The first line of a {@link readSecretFile}. @throws config_invalid also if there is nothing in it */
export function readSecretLine(setting: string, file: string): string {
  const [line = ""] = readSecretFile(setting, file).split(/\r?\n/, 1);
  if (line.trim() === "")
    throw new FormsvcError("config_invalid", `${setting}: ${file}: its first line is empty`);
  return line;
}
