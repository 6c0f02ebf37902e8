import { FormsvcError } from "../../foundation/errors.ts";

/** The bytes of a file that is read more than once. */
export interface ImportedFile {
  /** For messages. */
  readonly name: string;
  /** From the first byte on, each time it is called; in constant memory. A part is good until the next is asked for. @throws usage */
  readonly bytes: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Bytes that are read in one piece at most: a line of NDJSON, or a table in JSON. */
  readonly longestPieceBytes: number;
}

/** What every import works with beside the database. */
export interface ImportParts {
  readonly source: ImportedFile;
}

/** The lines of a file, in constant memory. @throws usage */
export async function* linesOf({ name, bytes, longestPieceBytes }: ImportedFile): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let length = 0;
  for await (const bytesOfPart of bytes()) {
    const part = Buffer.from(bytesOfPart.buffer, bytesOfPart.byteOffset, bytesOfPart.byteLength);
    let begun = 0;
    for (let end = part.indexOf(10); end !== -1; end = part.indexOf(10, begun)) {
      yield Buffer.concat([...rest, part.subarray(begun, end)]).toString("utf8");
      [rest, length, begun] = [[], 0, end + 1];
    }
    // The part is written over when the next one is asked for.
    rest.push(Buffer.from(part.subarray(begun)));
    length += part.length - begun;
    if (length > longestPieceBytes)
      throw new FormsvcError("usage", `${name}: a line is longer than ${longestPieceBytes} bytes`);
  }
  if (length > 0) yield Buffer.concat(rest).toString("utf8");
}
