import { plainText } from "../foundation/plain-text.ts";

/** Text in one line, at most that many characters, without control characters and marks of direction. */
export function oneLine(text: string, maxLength: number): string {
  return shorten(plainText(text).replace(/\s+/g, " ").trim(), maxLength);
}

export function shorten(text: string, maxLength: number): string {
  return (text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`).toWellFormed();
}
