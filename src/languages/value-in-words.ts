import { isFileList, type ListedFile, sizeText } from "../foundation/file-list.ts";
import type { Wording } from "./wording.ts";

/**
 * A value of a submission for people who get an e-mail or a chat message about it: yes and no in words, several answers separated by
 * commas, files by name and size, groups as JSON.
 */
export function valueIn(value: unknown, wording: Wording): string {
  if (isFileList(value)) return value.map((file) => fileText(file, wording)).join(", ");
  if (Array.isArray(value) && value.length > 0 && value.every(isPlain))
    return value.map((item) => plainText(item, wording)).join(", ");
  return isPlain(value) ? plainText(value, wording) : JSON.stringify(value);
}

type Plain = string | number | boolean;

function isPlain(value: unknown): value is Plain {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function plainText(value: Plain, wording: Wording): string {
  return typeof value === "boolean" ? wording.text(value ? "yes" : "no") : String(value);
}

function fileText(file: ListedFile, wording: Wording): string {
  const words = stateIn(file, wording);
  const size = sizeText(file.size, (value) => wording.number(value));
  return `${file.name} (${size}${words === null ? "" : `, ${words}`})`;
}

/** What has become of a file; null if it has no such state. */
function stateIn({ state, verdict }: ListedFile, wording: Wording): string | null {
  if (state === "scanning") return wording.text("stateScanning");
  if (state === "unscanned") return wording.text("stateUnscanned");
  if (state === "deleted") return wording.text("stateDeleted");
  if (state !== "infected") return null;
  return typeof verdict === "string"
    ? wording.text("stateVirus", { virus: verdict })
    : wording.text("stateInfected");
}
