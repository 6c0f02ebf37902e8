import { FormsvcError } from "../../foundation/errors.ts";

/** A file that an import reads more than once. */
export interface ImportedFile {
  /** The name that messages use. */
  readonly name: string;
  /** Reads the file from its first byte, in constant memory. Each part is valid only until the next one is read. @throws usage */
  readonly bytes: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** The largest number of bytes that are read in one piece: a line of NDJSON, or a whole table in JSON. */
  readonly longestPieceBytes: number;
  /** The largest number of objects, lists and members of a line of NDJSON, or of a row of a table in JSON. */
  readonly mostMembers: number;
}

/** What is wrong with a line or a row that has more. */
export function tooManyMembers(place: string, most: number): string {
  return `${place} has more than ${most} objects, lists and members; import the file by the command on the server's machine`;
}

/** What every import needs besides the database. */
export interface ImportParts {
  readonly source: ImportedFile;
}

interface FileLine {
  readonly text: string;
  /** Counted from 1. */
  readonly number: number;
}

const [TAB, LINE_FEED, RETURN, SPACE] = [9, 10, 13, 32];

/** Reads the lines of a file that are not blank, in constant memory. A file of blank lines alone costs some nanoseconds a line. @throws usage */
async function* linesOf({ name, bytes, longestPieceBytes }: ImportedFile): AsyncGenerator<FileLine> {
  let rest: Buffer[] = [];
  let [length, number] = [0, 0];
  for await (const bytesOfPart of bytes()) {
    const part = Buffer.from(bytesOfPart.buffer, bytesOfPart.byteOffset, bytesOfPart.byteLength);
    let begun = 0;
    for (let end = part.indexOf(LINE_FEED); end !== -1; end = part.indexOf(LINE_FEED, begun)) {
      number += 1;
      if (length > 0 || !isBlank(part, begun, end))
        yield { text: Buffer.concat([...rest, part.subarray(begun, end)]).toString("utf8"), number };
      [rest, length, begun] = [[], 0, end + 1];
    }
    // Copies the rest, because the buffer of the part is reused for the next one.
    rest.push(Buffer.from(part.subarray(begun)));
    length += part.length - begun;
    if (length > longestPieceBytes)
      throw new FormsvcError("usage", `${name}: a line is longer than ${longestPieceBytes} bytes`);
  }
  if (length > 0) yield { text: Buffer.concat(rest).toString("utf8"), number: number + 1 };
}

/**
 * Reads the lines of an export of ours that hold submissions. Our JSON has the same lines in a list: its brackets are lines of their own, and
 * a comma ends each line but the last. @throws usage, also if the list has no end
 */
export async function* exportLinesOf(file: ImportedFile): AsyncGenerator<FileLine> {
  let [isFirst, isOpen] = [true, false];
  for await (const line of linesOf(file)) {
    const text = line.text.trim();
    const isBracket = isOpen ? text === "]" : isFirst && (text === "[" || text === "[]");
    isFirst = false;
    if (isBracket) isOpen = text === "[";
    else yield isOpen && text.endsWith(",") ? { ...line, text: text.slice(0, -1) } : line;
  }
  if (isOpen)
    throw new FormsvcError("usage", `${file.name}: the list has no end, so some of the export is missing`);
}

function isBlank(part: Buffer, begun: number, end: number): boolean {
  for (let at = begun; at < end; at += 1) {
    const byte = part[at];
    if (byte !== SPACE && byte !== RETURN && byte !== TAB) return false;
  }
  return true;
}
