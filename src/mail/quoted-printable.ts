const MAX_LINE_LENGTH = 76;

/** Text as lines of at most 76 ASCII characters that end with CRLF (RFC 2045, section 6.7). Line feeds are the line breaks. */
export function quotedPrintable(text: string): string {
  return text.split("\n").map(encodeLine).join("\r\n");
}

function encodeLine(line: string): string {
  let out = "";
  let room = MAX_LINE_LENGTH;
  const bytes = Buffer.from(line, "utf8");
  for (const [index, byte] of bytes.entries()) {
    const piece = mayStand(byte, index, bytes) ? String.fromCharCode(byte) : hex(byte);
    // One place of a line that goes on is for the sign that says so.
    if (piece.length > room - (index === bytes.length - 1 ? 0 : 1)) {
      out += "=\r\n";
      room = MAX_LINE_LENGTH;
    }
    out += piece;
    room -= piece.length;
  }
  return out;
}

/** Servers have stripped spaces at the end of a line, changed `From ` at its start and lost a dot there. */
function mayStand(byte: number, index: number, bytes: Readonly<Uint8Array>): boolean {
  if (byte === 0x20) return index !== bytes.length - 1;
  if (byte < 0x21 || byte > 0x7e || byte === 0x3d) return false;
  return index > 0 || (byte !== 0x2e && byte !== 0x46);
}

function hex(byte: number): string {
  return `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
