import { statSync } from "node:fs";
import { FormsvcError } from "../../foundation/errors.ts";

/**
 * Returns a function that refuses if the file of an open database does not have its name any more. SQLite would go on to write to it, and
 * what is stored in a deleted file is gone with the process.
 *
 * @param path the database, which was opened just now
 */
export function watchName(path: string): () => void {
  // There, no open file can be moved or deleted.
  if (process.platform === "win32") return () => {};
  const opened = statSync(path);
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && found.ino === opened.ino && found.dev === opened.dev) return;
    const what = found === undefined ? "moved or deleted" : "replaced";
    throw new FormsvcError(
      "database_unusable",
      `${path}: the file was ${what} while it was open; put it back, or start the server again on the right one`,
      { retryAfterSeconds: 5 },
    );
  };
}
