import { linkSync, lstatSync, renameSync, rmSync } from "node:fs";
import { FormsvcError } from "../../foundation/errors.ts";
import { syncFolderOf } from "./durable-file.ts";

/**
 * Gives a durable file an unused name in the same folder. It never replaces a file that appeared meanwhile, nor a link, even if the link
 * leads nowhere.
 *
 * @throws already_exists; then the file is as it was.
 */
export function moveToNewName(file: string, target: string): void {
  try {
    linkSync(file, target);
  } catch (error) {
    // Some file systems have no links. There, another file may appear between the check and the rename.
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
