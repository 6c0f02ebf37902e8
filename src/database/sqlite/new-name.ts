import { linkSync, lstatSync, renameSync, rmSync } from "node:fs";
import { FormsvcError } from "../../foundation/errors.ts";
import { syncFolderOf } from "./durable-file.ts";

/**
 * Gives a file, already durable, a free name in the same folder. It never replaces a file that came meanwhile, nor a link, even
 * if the link leads nowhere.
 *
 * @throws already_exists, with the file as it was.
 */
export function moveToNewName(file: string, target: string): void {
  try {
    linkSync(file, target);
  } catch (error) {
    // Some file systems have no links; there a moment remains between the check and the rename.
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw nameTaken(target, error);
    renameSync(file, target);
  }
  rmSync(file, { force: true });
  syncFolderOf(target);
}

export function nameTaken(file: string, cause?: unknown): FormsvcError {
  const message = `${file}: exists already and is left as it is; choose another name`;
  return new FormsvcError("already_exists", message, { cause });
}
