import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readServerVariables } from "../../config/server-variables.ts";
import { FormsvcError } from "../../foundation/errors.ts";

const MAX_BYTES = 262_144;
/** The permission bits of everybody except the owner. None of them may be set. */
const OTHERS = 0o077;

/** The file with the logins; null if the system names no folder of this user. */
export function contextsFile(): string | null {
  const { userFolder } = readServerVariables();
  return userFolder === null ? null : join(userFolder, "formsvc", "contexts.json");
}

export interface ContextsText {
  readonly file: string;
  readonly text: string;
}

/** Null if there is no file. @throws usage if other users can read it, or if it is too large or unreadable */
export function readContextsFile(): ContextsText | null {
  const file = contextsFile();
  if (file === null) return null;
  try {
    const { mode, size } = statSync(file);
    if (process.platform !== "win32" && (mode & OTHERS) !== 0)
      throw new FormsvcError("usage", `${file}: others can read its tokens; run: chmod 600 ${file}`);
    if (size > MAX_BYTES) throw new FormsvcError("usage", `${file}: larger than ${MAX_BYTES} bytes`);
    return { file, text: readFileSync(file, "utf8") };
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    const why = code === "EACCES" ? notOfThisUser() : `cannot be read (${message})`;
    throw new FormsvcError("usage", `${file}: ${why}`, { cause: error });
  }
}

/** Programs that change the user, such as setpriv and sudo, often leave the folder of the user before. */
function notOfThisUser(): string {
  const { userFolderVariable: variable } = readServerVariables();
  return (
    `this user may not read it; set ${variable} to the folder of this user, ` +
    "or name the database of this machine with --db or FORMSVC_DATABASE_PATH, which needs no contexts"
  );
}
