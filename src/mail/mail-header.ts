/** A line of a header, folded (RFC 5322, section 2.2.3). Everything in it is ASCII without control characters. */
const ENCODED_WORD_BYTES = 45;
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Text in a header. Anything that is not short printable ASCII becomes encoded words of RFC 2047 of at most 75 characters, so that no
 * text can end the line.
 */
export function headerText(text: string): string {
  // What looks like an encoded word would be decoded by the reader.
  if (PLAIN.test(text) && text.length <= 60 && !text.includes("=?") && text.trim() === text) return text;
  return encodedWords(text).join("\r\n ");
}

/** A name and an address that was checked; the name as encoded words or between quotes. */
export function mailbox(name: string, address: string): string {
  if (name === "") return `<${address}>`;
  const isQuotable = PLAIN.test(name) && name.length <= 60 && !/["\\]/.test(name) && !name.includes("=?");
  return `${isQuotable ? `"${name}"` : encodedWords(name).join("\r\n ")}\r\n <${address}>`;
}

/** `Sun, 22 Nov 2026 09:41:59 +0000` */
export function headerDate(ms: number): string {
  return new Date(ms).toUTCString().replace("GMT", "+0000");
}

/** Each word holds whole characters, as RFC 2047 demands. */
function encodedWords(text: string): string[] {
  const words: string[] = [];
  let word = "";
  for (const char of text.toWellFormed()) {
    if (Buffer.byteLength(word + char) > ENCODED_WORD_BYTES) {
      words.push(word);
      word = "";
    }
    word += char;
  }
  return [...words, word].map((each) => `=?UTF-8?B?${Buffer.from(each).toString("base64")}?=`);
}
