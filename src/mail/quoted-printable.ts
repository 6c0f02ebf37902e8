const MAX_LINE_LENGTH = 76;

/** Text as lines of at most 76 ASCII characters that end with CRLF (RFC 2045, section 6.7). Line feeds are the line breaks. */
export function quotedPrintable(text: string): string {
  return text.split("\n").map(encodeLine).join("\r\n");
}

function encodeLine(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  const lines: string[] = [];
  let line = "";
  for (const [index, byte] of bytes.entries()) {
    const isLast = index === bytes.length - 1;
    const piece = encodeByte(byte, line === "", isLast);
    // One place of a line that goes on is for the sign that says so.
    if (line.length + piece.length <= MAX_LINE_LENGTH - (isLast ? 0 : 1)) line += piece;
    else {
      lines.push(`${line}=`);
      line = encodeByte(byte, true, isLast);
    }
  }
  return [...lines, line].join("\r\n");
}

/** Servers have lost a dot at the start of a line, changed `From ` there, and stripped spaces at the end. */
function encodeByte(byte: number, isFirst: boolean, isLast: boolean): string {
  const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x3d;
  const isAtRisk = (isFirst && (byte === 0x2e || byte === 0x46)) || (isLast && byte === 0x20);
  if (isPlain && !isAtRisk) return String.fromCharCode(byte);
  return `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
