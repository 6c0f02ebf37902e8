import { FormsvcError } from "../../foundation/errors.ts";

const BOMS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** The first bytes of files that are not text, and the advice for each. */
const OTHER_FILES: readonly (readonly [begin: string, advice: string])[] = [
  [
    "PK\u0003\u0004",
    "a spreadsheet (.xlsx, .ods) or an archive, and no text; save it as CSV in the program that made it",
  ],
  [
    "\u00d0\u00cf\u0011\u00e0",
    "a spreadsheet (.xls) and no text; save it as CSV in the program that made it",
  ],
  ["%PDF", "a PDF and no table; export the posts as CSV"],
  ["\u001f\u008b", "compressed; unpack it first"],
];
/** The number of bytes that are searched for signs of UTF-16. */
const LOOKED_AT_BYTES = 512;

/**
 * Decodes bytes to text. A byte order mark decides the encoding and is left out. Without one it is `encoding`; if that is null, UTF-16 if
 * the bytes look like it, else UTF-8.
 *
 * @throws usage for an encoding that does not exist, for bytes that are not text in it, and for a file of another program
 */
export async function* decodeText(
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  encoding: string | null,
): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  for await (const part of bytes) {
    if (decoder === null) refuseOtherFile(part);
    decoder ??= decoderFor(markedEncoding(part) ?? encoding ?? likelyEncoding(part));
    yield decode(decoder, part, encoding);
  }
  if (decoder !== null) yield decode(decoder, undefined, encoding);
}

function markedEncoding(bytes: Uint8Array): string | null {
  return BOMS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0] ?? null;
}

/** @throws usage */
function refuseOtherFile(bytes: Uint8Array): void {
  const begin = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  const found = OTHER_FILES.find(([each]) => begin.startsWith(each));
  if (found !== undefined) throw new FormsvcError("usage", `the file is ${found[1]}`);
}

/** Guesses the encoding: in UTF-16 nearly every ASCII character of a heading has an empty byte beside it. */
function likelyEncoding(bytes: Uint8Array): string {
  const looked = bytes.subarray(0, LOOKED_AT_BYTES);
  const emptyAt = (rest: number): number =>
    looked.filter((byte, index) => byte === 0 && index % 2 === rest).length;
  const [even, odd] = [emptyAt(0), emptyAt(1)];
  if (Math.max(even, odd) <= looked.length / 4) return "utf-8";
  return odd > even ? "utf-16le" : "utf-16be";
}

/** @throws usage */
function decoderFor(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch {
    const given = JSON.stringify(encoding.slice(0, 100));
    throw new FormsvcError(
      "usage",
      `not an encoding: ${given}; give a name like utf-8, windows-1252 or utf-16le`,
    );
  }
}

function decode(decoder: TextDecoder, bytes: Uint8Array | undefined, named: string | null): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch (error) {
    const how =
      named === null
        ? "name its encoding (the character set), like windows-1252"
        : "its encoding is another one";
    throw new FormsvcError("usage", `the file is no text in ${decoder.encoding}; ${how}`, { cause: error });
  }
}
