import { plainText } from "../foundation/plain-text.ts";

/** Text in one line, at most that many characters, without control characters and marks of direction. */
export function oneLine(text: string, maxLength: number): string {
  return shorten(plainText(text).replace(/\s+/g, " ").trim(), maxLength);
}

/** Never cut within a character. */
export function shorten(text: string, maxLength: number): string {
  const shown =
    text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  return shown.toWellFormed();
}
