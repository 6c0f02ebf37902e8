const MAX_LINE_LENGTH = 76;

/**
 * Encodes a text as lines of at most 76 ASCII characters that end with CRLF (RFC 2045, section 6.7). Each line feed becomes a line break.
 */
export function quotedPrintable(text: string): string {
  return text.split("\n").map(encodeLine).join("\r\n");
}

function encodeLine(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  const lines: string[] = [];
  let line = "";
  for (const [index, byte] of bytes.entries()) {
    const isLast = index === bytes.length - 1;
    const piece = encodeByte(byte, line, isLast);
    // A line that continues needs one character for the sign that says so.
    if (line.length + piece.length <= MAX_LINE_LENGTH - (isLast ? 0 : 1)) line += piece;
    else {
      lines.push(`${line}=`);
      line = encodeByte(byte, "", isLast);
    }
  }
  return [...lines, line].join("\r\n");
}

/** Encodes a dot or an `F` at the start of a line, and a space at its end: servers have lost such dots and spaces, and changed `From `. */
function encodeByte(byte: number, before: string, isLast: boolean): string {
  const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x3d;
  const isAtRisk = (before === "" && (byte === 0x2e || byte === 0x46)) || (isLast && byte === 0x20);
  if (isPlain && !isAtRisk) return String.fromCharCode(byte);
  return `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
