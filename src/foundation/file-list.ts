import { isId } from "./id.ts";

/** A file as it is listed in the data of a submission. */
export interface ListedFile {
  readonly id: string;
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly type: string;
  /** `scanning`, `unscanned`, `deleted` or `infected`; missing if none of these applies. */
  readonly state?: string;
  /** The name of the virus that was found in the file. */
  readonly verdict?: string;
}

/** Whether a value of a submission is a list of files. Data of an undeclared field may look like one, but the ids lead to no file. */
export function isFileList(value: unknown): value is readonly ListedFile[] {
  return Array.isArray(value) && value.length > 0 && value.every(isListedFile);
}

function isListedFile(value: unknown): value is ListedFile {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, size, type } = value as Partial<Record<keyof ListedFile, unknown>>;
  const isFileId = typeof id === "string" && isId("fil", id);
  return isFileId && typeof name === "string" && typeof size === "number" && typeof type === "string";
}

/** What has become of a file, for people; null if it has no such state. */
export function stateText({ state, verdict }: Pick<ListedFile, "state" | "verdict">): string | null {
  if (state === "scanning") return "being scanned for viruses";
  if (state === "unscanned") return "not scanned for viruses";
  if (state === "deleted") return "not kept any more";
  if (state !== "infected") return null;
  return typeof verdict === "string" ? `deleted: it had the virus ${verdict}` : "deleted: it had a virus";
}

const UNITS = [
  [1_073_741_824, "GB"],
  [1_048_576, "MB"],
  [1024, "KB"],
] as const;

/** A file size as people read it: `48 KB`, `5.2 MB` or `1.5 GB`. @param write writes a number in the reader's language */
export function sizeText(bytes: number, write: (value: number) => string = String): string {
  const [unit, name] = UNITS.find(([least]) => bytes >= least) ?? [1, bytes === 1 ? "byte" : "bytes"];
  const value = bytes / unit;
  return `${write(value >= 10 ? Math.round(value) : Number(value.toFixed(1)))} ${name}`;
}

/** The size for people, with the number of bytes if that says more. */
export function exactSizeText(bytes: number): string {
  const exact = `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const rounded = sizeText(bytes);
  return rounded === exact ? exact : `${rounded} (${exact})`;
}
