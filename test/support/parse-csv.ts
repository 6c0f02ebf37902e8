import { expect } from "vitest";

/** Reads CSV by the grammar of RFC 4180, independently of the code that wrote it. A line may also end without a carriage return. */
export function parseCsv(text: string, separator = ","): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char === '"' && text[at + 1] === '"') at += 1;
      else if (char === '"') {
        quoted = false;
        continue;
      }
      cell += char;
    } else if (char === '"') quoted = true;
    else if (char === separator) {
      row.push(cell);
      cell = "";
    } else if (char === "\n" || (char === "\r" && text[at + 1] === "\n")) {
      if (char === "\r") at += 1;
      rows.push([...row, cell]);
      row = [];
      cell = "";
    } else cell += char;
  }
  expect([quoted, row, cell]).toEqual([false, [], ""]);
  return rows;
}
