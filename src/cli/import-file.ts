import { closeSync, openSync, readSync, statSync } from "node:fs";
import { FormsvcError } from "../foundation/errors.ts";
import type { ImportSource } from "../submissions/import-submissions.ts";
import type { TableSource } from "../submissions/table-rows.ts";

/** Longest line; a post is at most 10 MiB and grows by escapes. */
const MAX_LINE_BYTES = 67_108_864;
const READ_BYTES = 65_536;

/** The bytes of a file that is read more than once. */
export function importedTable(file: string): TableSource {
  return { name: file, bytes: () => readParts(file) };
}

/** The lines of a file that is read more than once. */
export function importFile(file: string): ImportSource {
  return { name: file, lines: () => readLines(file) };
}

/** A pipe is empty when it is read again: nothing would be imported, and nobody would notice. */
function readOnceOnly(what: string): FormsvcError {
  const why = "the file is read twice, to check all of it before anything is stored; save it first";
  return new FormsvcError("usage", `${what} cannot be imported: ${why}`);
}

/** The bytes of a file, in constant memory; each part is good until the next is asked for. @throws usage */
function* readParts(file: string): Generator<Buffer> {
  const fd = openPlainFile(file);
  try {
    const part = Buffer.alloc(READ_BYTES);
    for (let read = readSync(fd, part); read > 0; read = readSync(fd, part)) yield part.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

/** @throws usage */
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

/** The lines of a file, in constant memory. @throws usage */
function* readLines(file: string): Generator<string> {
  let rest = Buffer.alloc(0);
  for (const part of readParts(file)) {
    let begun = 0;
    for (let end = part.indexOf(10); end !== -1; end = part.indexOf(10, begun)) {
      yield Buffer.concat([rest, part.subarray(begun, end)]).toString("utf8");
      rest = Buffer.alloc(0);
      begun = end + 1;
    }
    rest = Buffer.concat([rest, part.subarray(begun)]);
    if (rest.length > MAX_LINE_BYTES) throw new FormsvcError("usage", `${file}: a line is too long`);
  }
  if (rest.length > 0) yield rest.toString("utf8");
}
