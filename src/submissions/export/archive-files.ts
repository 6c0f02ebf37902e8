import { Readable } from "node:stream";
import type { Database } from "../../database/database.ts";
import { cleanName } from "../../files/clean-name.ts";
import { type FileStream, listFilesOf, READ_AHEAD_BYTES, readBytes } from "../../files/read-file.ts";
import { type ListedFile, sizeText, stateText } from "../../foundation/file-list.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { type ArchiveMember, zipStream } from "../../foundation/zip-stream.ts";
import { namedFiles } from "../files/submission-files.ts";
import { findSubmission } from "../stored/submission-store.ts";

/** The name of the member that lists files which the archive lacks; a complete archive does not have this member. */
export const MISSING_NAME = "not-in-this-archive.txt";
/** The largest number of files that this member lists. */
const MAX_MISSING = 1000;

/**
 * The files of submissions as a ZIP archive, each as `{submission}/{name}`. The last member lists the files that nobody may read or that
 * are deleted. The archive is made while it is read, one chunk of a file at a time. It breaks off if a file is deleted while that file is
 * read.
 */
export function archiveFiles(
  db: Database,
  submissionIds: Iterable<string> | AsyncIterable<string>,
): FileStream {
  const archive = Readable.from(zipStream(members(db, submissionIds)), { objectMode: false });
  return Object.assign(archive, { heldBytes: READ_AHEAD_BYTES });
}

async function* members(
  db: Database,
  submissionIds: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<ArchiveMember> {
  const missing = new MissingFiles();
  for await (const id of submissionIds) {
    const taken = new Set<string>();
    const { files, others } = await db.read(() => listForArchive(id));
    for (const file of files) {
      const name = freeName(cleanName(file.name) ?? file.id, taken);
      yield { name: `${id}/${name}`, content: readBytes(db, file.id, { first: 0, last: file.size - 1 }) };
    }
    for (const file of others) missing.add(id, file);
  }
  if (missing.count > 0) yield { name: MISSING_NAME, content: missing.lines() };
}

function* listForArchive(id: string) {
  const files = yield* listFilesOf(id);
  const there = new Set(files.map((file) => file.id));
  const submission = yield* findSubmission(id);
  const named = submission === undefined ? [] : namedFiles(submission);
  return { files, others: named.filter((file) => !there.has(file.id)) };
}

class MissingFiles {
  count = 0;
  readonly #lines: string[] = [];

  add(submission: string, file: ListedFile): void {
    this.count += 1;
    if (this.count > MAX_MISSING) return;
    const reason = stateText(file) ?? "its bytes are not here";
    this.#lines.push(`${submission}: ${plainText(file.name)} (${sizeText(file.size)}, ${reason})\n`);
  }

  lines(): string[] {
    const more = this.count - this.#lines.length;
    return more > 0 ? [...this.#lines, `and ${more} more\n`] : this.#lines;
  }
}

/** Names that Windows takes for a device, whatever follows the dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/** The longest name that the file systems of Linux and macOS take. A name of 200 characters may have more bytes. */
const MAX_NAME_BYTES = 255;

/**
 * Makes a name that no other file of the folder has, ignoring case: `cv.pdf`, then `cv (2).pdf`. The name has 255 bytes at most.
 *
 * @param taken the names that are taken, in lower case; the new name is added
 */
export function freeName(given: string, taken: Set<string>): string {
  const name = given.replace(DEVICE, "_$&");
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]{0,20})?$/su.exec(name) ?? [];
  let free = fitting(stem, extension);
  for (let number = 2; taken.has(free.toLowerCase()); number += 1)
    free = fitting(stem, ` (${number})${extension}`);
  taken.add(free.toLowerCase());
  return free;
}

/** Shortens the stem until it fits with its end into {@link MAX_NAME_BYTES}. */
function fitting(stem: string, end: string): string {
  const characters = Array.from(stem);
  while (Buffer.byteLength(characters.join("") + end) > MAX_NAME_BYTES) characters.pop();
  return characters.join("") + end;
}
