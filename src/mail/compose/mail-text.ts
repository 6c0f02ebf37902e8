import { plainText } from "../../foundation/plain-text.ts";
import { shorten } from "../../foundation/shorten.ts";

/** The text in one line, with at most `maxLength` characters, without control characters and direction marks. */
export function oneLine(text: string, maxLength: number): string {
  return shorten(plainText(text).replace(/\s+/g, " ").trim(), maxLength);
}
