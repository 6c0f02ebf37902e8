/** A file that an e-mail brings, encoded. */
export interface EncodedFile {
  /** The name as people see it. It comes from a stranger, and may be any text. */
  readonly name: string;
  /** The media type of its content. */
  readonly type: string;
  /** The content in base64, in lines of 76 characters that end with CRLF. */
  readonly lines: Buffer;
}

/** The number of bytes that one line encodes. */
const LINE_BYTES = 57;

/** Encodes chunk by chunk, so that other work can go on between two chunks. */
export async function encodeBase64(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % LINE_BYTES);
    parts.push(linesOf(bytes.subarray(0, whole)));
    rest = bytes.subarray(whole);
  }
  return Buffer.concat([...parts, linesOf(rest)]);
}

function linesOf(bytes: Buffer): Buffer {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES)
    lines.push(bytes.toString("base64", at, Math.min(at + LINE_BYTES, bytes.length)));
  return Buffer.from(lines.map((line) => `${line}\r\n`).join(""), "latin1");
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,120}$/;

/** The headers of the MIME part with the file. */
export function attachmentHeaders({ name, type }: Pick<EncodedFile, "name" | "type">): string[] {
  return [
    `Content-Type: ${MEDIA_TYPE.test(type) ? type : "application/octet-stream"}`,
    "Content-Transfer-Encoding: base64",
    `Content-Disposition: attachment${fileName(name)}`,
  ];
}

const PLAIN_NAME = /^[\w .()+=@-]{1,60}$/;
/** The largest number of characters in one piece. A header line has 78 characters. */
const PIECE_LENGTH = 60;
/** The largest number of characters in all pieces. Readers unfold a header before they read it, and some accept no more than 998. */
const MAX_ENCODED_LENGTH = 720;

/** The name as a parameter. A name that is long or not plain is written in pieces (RFC 2231). */
function fileName(name: string): string {
  if (PLAIN_NAME.test(name)) return `;\r\n filename="${name}"`;
  const pieces = [""];
  for (const encoded of fitting(name.toWellFormed())) {
    const last = pieces.length - 1;
    if ((pieces[last] ?? "").length + encoded.length > PIECE_LENGTH) pieces.push(encoded);
    else pieces[last] += encoded;
  }
  const [only, ...more] = pieces;
  if (more.length === 0) return `;\r\n filename*=utf-8''${only}`;
  return pieces
    .map((piece, index) => `;\r\n filename*${index}*=${index === 0 ? "utf-8''" : ""}${piece}`)
    .join("");
}

/** The encoded characters of a name. A name that is too long loses characters before its extension. */
function fitting(name: string): string[] {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]{1,20})$/su.exec(name) ?? [];
  const end = Array.from(extension, encoded8187);
  let room = MAX_ENCODED_LENGTH - end.join("").length;
  const begin: string[] = [];
  for (const character of stem) {
    const encoded = encoded8187(character);
    room -= encoded.length;
    if (room < 0) break;
    begin.push(encoded);
  }
  return [...begin, ...end];
}

/** A character, encoded for a parameter (RFC 8187). */
function encoded8187(character: string): string {
  const encoded = encodeURIComponent(character);
  const isBare = /^['()*!~]$/.test(encoded);
  return isBare ? `%${encoded.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
}
