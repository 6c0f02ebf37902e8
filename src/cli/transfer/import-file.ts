import { closeSync, openSync, readSync, statSync } from "node:fs";
import { FormsvcError } from "../../foundation/errors.ts";
import type { ImportedFile } from "../../submissions/import/imported-file.ts";

/** The options that say into which endpoint an import puts what it reads. */
export const intoOptions = [
  {
    flags: "--endpoint <endpoint>",
    summary: "put all of them into this endpoint (default: the endpoint whose id each of them names)",
  },
  {
    flags: "--workspace <workspace>",
    summary:
      "workspace of that endpoint; without --endpoint, put each into the endpoint of this workspace with its name",
  },
] as const;

/**
 * The longest piece of a file, in bytes. A post has at most 10 MiB and grows by escapes; a JSON file of another service has no rows until
 * all of it is read.
 */
const MAX_PIECE_BYTES = 67_108_864;
const READ_BYTES = 65_536;

/** A file of this machine, which can be read several times. */
export function importFile(file: string): ImportedFile {
  return {
    name: file,
    bytes: () => readParts(file),
    longestPieceBytes: MAX_PIECE_BYTES,
    mostMembers: Infinity,
  };
}

/** The error for a pipe. It is empty when it is read again, so nothing would be imported and nobody would notice. */
function readOnceOnly(what: string): FormsvcError {
  const why = "the file is read twice, to check all of it before anything is stored; save it first";
  return new FormsvcError("usage", `${what} cannot be imported: ${why}`);
}

/** Yields the bytes of a file, in constant memory. Each part is valid until the next one is asked for. @throws usage */
function* readParts(file: string): Generator<Buffer> {
  const fd = openPlainFile(file);
  try {
    const part = Buffer.alloc(READ_BYTES);
    for (let read = readSync(fd, part); read > 0; read = readSync(fd, part)) yield part.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

/** Opens a file that can be read several times. @throws usage for anything else */
function openPlainFile(file: string): number {
  if (file === "-") throw readOnceOnly("standard input");
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new FormsvcError("usage", `${file}: this is a folder; name a file in it`);
    if (!found.isFile()) throw readOnceOnly(file);
    return openSync(file, "r");
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    throw new FormsvcError("usage", `${file}: cannot be read (${(error as Error).message})`, {
      cause: error,
    });
  }
}
