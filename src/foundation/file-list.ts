import { isId } from "./id.ts";

/** A file as the data of a submission name it. */
export interface ListedFile {
  readonly id: string;
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly type: string;
  /** Only if the file is not simply there. */
  readonly state?: string;
  /** The name of the virus that was found in it. */
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

/** What has become of a file, for people; null if it is simply there. */
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

/** `48 KB`, `5.2 MB` or `1.5 GB`: as people read the size of a file. @param write a number in their language */
export function sizeText(bytes: number, write: (value: number) => string = String): string {
  const [unit, name] = UNITS.find(([least]) => bytes >= least) ?? [1, bytes === 1 ? "byte" : "bytes"];
  const value = bytes / unit;
  return `${write(value >= 10 ? Math.round(value) : Number(value.toFixed(1)))} ${name}`;
}
