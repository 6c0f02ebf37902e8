import { readFileSync, readdirSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** A text with a label, from the data directory or from `texts/`. */
export interface LabelledText {
  readonly id: string;
  readonly source: string;
  readonly label: "spam" | "ham";
  readonly text: string;
}

/** A row of the data directory's files. */
export interface DataRow {
  readonly id: string;
  readonly source: string;
  readonly label: "spam" | "ham";
  readonly text: string;
  readonly subject?: string;
  /** Contact-form messages that are near-copies of each other share one. */
  readonly cluster?: number;
}

/** One JSON object a line, gzipped or not. */
export function readRows<Row>(file: string): Row[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

export function readTrainingData(directory: string): LabelledText[] {
  return readRows<DataRow>(`${directory}/train.jsonl.gz`).map(({ id, source, label, text, subject }) => ({
    id,
    source,
    label,
    text: subject ? `${subject}\n${text}` : text,
  }));
}

/**
 * The texts written for this project, in order of file name. A file holds sections that begin with `== kind`, and in them
 * messages apart by lines of `--`; its name begins with `spam` or `genuine`.
 */
export function readOwnTexts(folder: URL): LabelledText[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".txt"))
    .sort()
    .flatMap((name) => {
      const label = name.startsWith("spam") ? "spam" : "ham";
      const messages = readFileSync(new URL(name, folder), "utf8")
        .split(/^(?:--|== .*)$/m)
        .map((text) => text.trim())
        .filter((text) => text !== "");
      return messages.map((text, index): LabelledText => ({
        id: `${name.replace(".txt", "")}-${index + 1}`,
        source: `own-${label}`,
        label,
        text,
      }));
    });
}
