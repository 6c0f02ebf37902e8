import { readFileSync, readdirSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { findLinks } from "../../src/spam/links.ts";

/** The folder of the project's own texts. */
export const ownTexts = new URL("./texts/", import.meta.url);
/** Texts that are never used for training. Their writers had seen neither the filter nor the other texts. */
export const unseenTexts = new URL("./unseen/", import.meta.url);

/** Short genuine sentences of other people, which are never used for training. Each file begins with its source and licence. */
export const shortTexts = new URL("./short/", import.meta.url);

/** A text with a label, from the data directory or from `texts/`. */
export interface LabelledText {
  readonly id: string;
  readonly source: string;
  readonly label: "spam" | "ham";
  /** The text that training reads. */
  readonly text: string;
  /** The text as it was sent. */
  readonly sent: string;
  /** The subject of one of the project's own texts; null for other texts. */
  readonly kind: string | null;
}

/** A row of the data directory's files. */
export interface DataRow {
  readonly id: string;
  readonly source: string;
  readonly label: "spam" | "ham";
  readonly text: string;
  readonly subject?: string;
  /** The number of a group of contact-form messages that are near-copies of each other. */
  readonly cluster?: number;
}

/** Reads a file with one JSON object in each line, compressed with gzip or not. */
export function readRows<Row>(file: string): Row[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

/**
 * A source whose links are left out in training: they are those of the footers of mailing lists, more in genuine mail than in spam, so the
 * model would learn who sent a text.
 */
const WITHOUT_LINKS = "spamassassin-corpus";

export function readTrainingData(directory: string): LabelledText[] {
  return readRows<DataRow>(`${directory}/train.jsonl.gz`).map(({ id, source, label, text, subject }) => {
    const sent = subject ? `${subject}\n${text}` : text;
    return {
      id,
      source,
      label,
      text: source === WITHOUT_LINKS ? withoutLinks(sent) : sent,
      sent,
      kind: null,
    };
  });
}

function withoutLinks(text: string): string {
  let rest = "";
  let at = 0;
  for (const { start, length } of findLinks(text)) {
    rest += text.slice(at, start);
    at = start + length;
  }
  return rest + text.slice(at);
}

/**
 * Reads the texts written for this project, in the order of file names. A file contains sections that begin with `== spam: kind` or `==
 * genuine: kind`. In a section, lines of `--` separate the messages.
 */
export function readOwnTexts(folder: URL): LabelledText[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".txt"))
    .sort()
    .flatMap((name) => {
      const sections = readFileSync(new URL(name, folder), "utf8").split(/^== /m).slice(1);
      return sections.flatMap((section) => readSection(name, section));
    });
}

function readSection(file: string, section: string): LabelledText[] {
  const [, says = "", kind = ""] = /^(spam|genuine): (.+)\n/.exec(section) ?? [];
  if (kind === "") throw new Error(`${file}: a section begins with "== spam: kind" or "== genuine: kind"`);
  const messages = section
    .slice(section.indexOf("\n"))
    .split(/^--$/m)
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return messages.map((text, index): LabelledText => ({
    id: `${file.replace(".txt", "")}: ${kind} ${index + 1}`,
    source: "own",
    label: says === "spam" ? "spam" : "ham",
    text,
    sent: text,
    kind,
  }));
}
