import { plainText } from "../../foundation/plain-text.ts";

/** The text in one line, with at most `maxLength` characters, without control characters and direction marks. */
export function oneLine(text: string, maxLength: number): string {
  return shorten(plainText(text).replace(/\s+/g, " ").trim(), maxLength);
}

/** Shortens a text. It never cuts within a character. */
export function shorten(text: string, maxLength: number): string {
  const shown =
    text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  return shown.toWellFormed();
}
