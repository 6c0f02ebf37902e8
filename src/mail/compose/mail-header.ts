/**
 * The number of bytes of text in an encoded word. With the syntax around it and the longest name of a header, a line stays within 76
 * characters (RFC 2047, section 2).
 */
const ENCODED_WORD_BYTES = 39;
const MAX_LINE_LENGTH = 998;
const PLAIN = /^[\x20-\x7e]*$/;
const LINE = /^[\x20-\x7e]+$/;

/**
 * The value of a header: printable ASCII stays as it is, and other text becomes encoded words of RFC 2047, which no text can break out of.
 */
export function headerText(text: string): string {
  return isPlain(text) ? text : encodedWords(text);
}

/** An address with a name before it, or the address alone if the name is empty. */
export function mailbox(name: string, address: string): string {
  if (name === "") return `<${address}>`;
  const isQuotable = isPlain(name) && !/["\\]/.test(name);
  return `${isQuotable ? `"${name}"` : encodedWords(name)}\r\n <${address}>`;
}

/** `Sun, 22 Nov 2026 09:41:59 +0000` */
export function headerDate(ms: number): string {
  return new Date(ms).toUTCString().replace("GMT", "+0000");
}

/**
 * Checks a finished header. @throws Error if it contains a line break, or is so long that servers may refuse it: whoever composed it has
 * not checked a value.
 */
export function checkHeader(header: string): string {
  const [first = "", ...folded] = header.split("\r\n");
  const isWhole = LINE.test(first) && folded.every((line) => LINE.test(line) && line.startsWith(" "));
  if (!isWhole || header.length > MAX_LINE_LENGTH)
    throw new Error(`not a header: ${JSON.stringify(header.slice(0, 200))}`);
  return header;
}

/** Whether the text may stay as it is. A text that looks like an encoded word must be encoded, because readers would decode it. */
function isPlain(text: string): boolean {
  return PLAIN.test(text) && !text.includes("=?");
}

/** Encodes a text. Each word holds whole characters, as RFC 2047 demands. */
function encodedWords(text: string): string {
  const words = [""];
  for (const char of text.toWellFormed()) {
    const word = words.at(-1) ?? "";
    if (Buffer.byteLength(word + char) > ENCODED_WORD_BYTES) words.push(char);
    else words[words.length - 1] = word + char;
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
}
