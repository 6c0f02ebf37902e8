import { plainText } from "../../foundation/plain-text.ts";
import { isFileList } from "../../foundation/file-list.ts";
import type { Submission } from "../../submissions/stored/submission.ts";

/** The part of a submission that a list shows. */
export interface SubmissionPreview {
  /** The sender: a name, else an e-mail address, else empty. */
  readonly from: string;
  /** The content: the longest text, else the e-mail address if it is not the sender already. */
  readonly text: string;
}

/** The largest number of characters of each value that a list shows. */
const MAX_SHOWN = 140;
/** The largest number of fields that a list reads, because a stranger's post may have thousands. */
const MAX_FIELDS = 50;

const NAME_FIELD = /^(?:full|your|contact)?[\s_.-]*name$|^(?:nombre|nom|nome|naam|namn|imię|имя)$/i;
const FIRST_NAME_FIELD = /^(?:first|given|fore)[\s_.-]*name$|^vorname$|^prénom$/i;
const LAST_NAME_FIELD = /^(?:last|family|sur)[\s_.-]*name$|^nachname$/i;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,200}$/;

/** The content that a list takes a preview from: the data, or the fields that were set aside if there is no data. */
export function contentOf({
  data,
  setAside,
}: Pick<Submission, "data" | "setAside">): Readonly<Record<string, unknown>> {
  return setAside !== null && Object.keys(data).length === 0 ? setAside.fields : data;
}

export function previewOf(data: Readonly<Record<string, unknown>>): SubmissionPreview {
  const texts = Object.entries(data)
    .slice(0, MAX_FIELDS)
    .map(([name, value]): readonly [string, string] => [name, lineOf(value)])
    .filter(([, text]) => text !== "");
  const named = (field: RegExp): string => texts.find(([name]) => field.test(name))?.[1] ?? "";
  const name = named(NAME_FIELD) || `${named(FIRST_NAME_FIELD)} ${named(LAST_NAME_FIELD)}`.trim();
  const email = texts.find(([, text]) => EMAIL.test(text))?.[1] ?? "";
  const from = name || email;
  const rest = texts.map(([, text]) => text).filter((text) => text !== name && text !== email);
  return { from, text: longestOf(rest) || (from === email ? "" : email) };
}

/** The title of a submission: its sender, else the beginning of its content. */
export function titleOf(data: Readonly<Record<string, unknown>>): string {
  const { from, text } = previewOf(data);
  return from || text || "No name";
}

function longestOf(texts: readonly string[]): string {
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
}

function fileNames(value: unknown): string | null {
  return isFileList(value) ? value.map(({ name }) => name).join(", ") : null;
}

/** A value in one line. Numbers, lists and objects are shown as JSON. */
function lineOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "boolean") return "";
  const text = typeof value === "string" ? value : (fileNames(value) ?? JSON.stringify(value));
  const line = plainText(text.slice(0, 4 * MAX_SHOWN)).trim();
  const shown = Array.from(line).slice(0, MAX_SHOWN).join("");
  return shown.length < line.length || text.length > 4 * MAX_SHOWN ? `${shown}…` : shown;
}
