import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { translateFileError } from "../../database/sqlite/file-error.ts";
import { moveToNewName, nameTaken } from "../../database/sqlite/new-name.ts";
import { FormsvcError } from "../../foundation/errors.ts";

/** The file that an export writes. It is written part by part, and gets its name only when it is whole. */
export interface ExportFile {
  text(text: string): void;
  bytes(content: Uint8Array): void;
  /** Gives the file its name. @throws already_exists if something has got that name meanwhile */
  finish(): void;
  /** Removes the file if it was not finished. */
  abandon(): void;
}

/**
 * Creates a file with mode 0600.
 *
 * @param unfinished its name until it is whole, in the same file system
 * @throws already_exists; usage if it cannot be created there
 */
export function createExportFile(file: string, unfinished = `${file}.unfinished-${process.pid}`): ExportFile {
  if (existsSync(file)) throw nameTaken(file);
  if (!existsSync(dirname(file))) {
    throw new FormsvcError("usage", `${file}: its folder does not exist; create it first`);
  }
  let fd: number;
  try {
    // An earlier process with the same id may have left such a file.
    rmSync(unfinished, { force: true });
    fd = openSync(unfinished, "wx", 0o600);
  } catch (error) {
    throw new FormsvcError("usage", `${file}: cannot be made (${(error as Error).message})`, {
      cause: error,
    });
  }
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  const withHint = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      throw translateFileError(error, file);
    }
  };
  const bytes = (content: Uint8Array): void => {
    let rest = content;
    withHint(() => {
      while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
    });
  };
  return {
    text: (text) => bytes(Buffer.from(text)),
    bytes,
    finish() {
      withHint(() => fsyncSync(fd));
      close();
      moveToNewName(unfinished, file);
    },
    abandon() {
      close();
      rmSync(unfinished, { force: true });
    },
  };
}
