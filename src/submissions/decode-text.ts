import { FormsvcError } from "../foundation/errors.ts";

const BOMS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/**
 * Bytes as text. A byte order mark tells the encoding and is left out; without one it is `encoding`, else UTF-8.
 *
 * @throws usage for an encoding that does not exist, and for bytes that are no text in it
 */
export async function* decodeText(
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  encoding: string | null,
): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  for await (const part of bytes) {
    decoder ??= decoderFor(markedEncoding(part) ?? encoding ?? "utf-8");
    yield decode(decoder, part, encoding);
  }
  if (decoder !== null) yield decode(decoder, undefined, encoding);
}

function markedEncoding(bytes: Uint8Array): string | null {
  return BOMS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0] ?? null;
}

/** @throws usage */
export function decoderFor(encoding: string): TextDecoder {
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
    const how = named === null ? "name its encoding, like windows-1252" : "its encoding is another one";
    throw new FormsvcError("usage", `the file is no text in ${decoder.encoding}; ${how}`, { cause: error });
  }
}
