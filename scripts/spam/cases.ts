import { UNSPACED } from "../../src/spam/characters.ts";
import { type Evidence, gatherEvidence, weigh } from "../../src/spam/score-spam.ts";
import { readPost } from "../../src/spam/read-post.ts";
import { readWords } from "../../src/spam/read-words.ts";
import { noHistory, type SpamHistory } from "../../src/spam/spam-history.ts";
import type { SpamPost } from "../../src/spam/spam-post.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { spamOdds, type TextModel } from "../../src/spam/text-model.ts";
import { scriptOf } from "./script-of.ts";
import type { Scored } from "./shares.ts";
import { type DataRow, type LabelledText, readRows } from "./texts.ts";
import { trainModel } from "./train-model.ts";

/** A labelled post, with the evidence that was found in it. */
export interface Case extends Scored {
  readonly group: string;
  readonly source: string;
  /** The script of the text, as {@link scriptOf} names it. */
  readonly script: string;
  readonly words: number;
  readonly hasLink: boolean;
  readonly label: "spam" | "ham";
  readonly evidence: Evidence;
}

const settings = defaultSpamSettings(3);

type About = Pick<Case, "group" | "source" | "label" | "cluster">;

function asCase(post: SpamPost, about: About, model: TextModel | null): Case {
  const evidence = evidenceOf(post, model, noHistory);
  const { body, links, wordCount } = readPost(post);
  const unspaced = body.match(ALL_UNSPACED)?.length ?? 0;
  return {
    ...about,
    script: scriptOf(body),
    words: Math.max(wordCount, Math.floor(unspaced / UNSPACED_CHARACTERS_A_WORD)),
    hasLink: links.length > 0,
    evidence,
    score: weigh(evidence).score,
  };
}

const ALL_UNSPACED = new RegExp(UNSPACED, "g");
const UNSPACED_CHARACTERS_A_WORD = 3;

/** Gathers the evidence for a post. @param model null uses the model that ships */
export function evidenceOf(post: SpamPost, model: TextModel | null, history: SpamHistory): Evidence {
  const shipped = readPost(post);
  const { modelText } = shipped;
  const read = model === null ? shipped : { ...shipped, odds: spamOdds(readWords(modelText), model) };
  return gatherEvidence(read, settings, history);
}

export function contentOf(fields: SpamPost["fields"]): SpamPost {
  return { fields, honeypots: [], elapsedMs: null, client: null };
}

/** The group of a text. The project's own texts are grouped by the file that contains them. */
function groupOf({ id, source, label }: LabelledText): string {
  if (source !== "own") return source;
  if (id.startsWith("genuine-links")) return "genuine short posts with a link";
  if (id.startsWith("genuine-subjects")) return "genuine posts about what spam sells";
  if (id.startsWith("kinds")) return label === "spam" ? "spam by kinds" : "genuine twins of the kinds";
  return label === "spam" ? "other own spam" : "other own genuine texts";
}

/** Scores texts with a model that was trained with all others. */
export function scoreLeftOut(out: readonly LabelledText[], rest: readonly LabelledText[]): Case[] {
  const model = trainModel(rest);
  return out.map((text) => textCase(text, model));
}

const UNSEEN_GROUPS: Readonly<Record<string, string>> = {
  spam: "spam",
  "genuine-links": "genuine short posts with a link",
  genuine: "other genuine texts",
};

/** Scores texts with the filter that ships. Spam is in two groups: all of it, and spam with or without a link. */
export function unseenCases(texts: readonly LabelledText[]): Case[] {
  const cases = texts.map((text) => {
    const [, file = ""] = /^(.+)-\w+: /.exec(text.id) ?? [];
    return { ...textCase(text, null), group: UNSEEN_GROUPS[file] ?? file };
  });
  const spam = cases.filter(({ label }) => label === "spam");
  const byLink = spam.map((each) => ({ ...each, group: `spam ${each.hasLink ? "with" : "without"} a link` }));
  return [
    ...spam,
    ...byLink.toSorted((a, b) => a.group.localeCompare(b.group)),
    ...cases.filter(({ label }) => label === "ham"),
  ];
}

/** Scores short genuine sentences of other people with the filter that ships. */
export function shortCases(texts: readonly LabelledText[]): Case[] {
  return texts.map((text) => {
    const [file] = text.id.split(":");
    return { ...textCase(text, null), group: `sentences of ${file}`, cluster: `${file} ${text.kind}` };
  });
}

function textCase(text: LabelledText, model: TextModel | null): Case {
  const about = {
    group: groupOf(text),
    source: text.source,
    label: text.label,
    cluster: text.kind ?? text.id,
  };
  return asCase(contentOf({ message: text.text }), about, model);
}

const FOLDS = 5;

/** Scores the project's own texts with models, each of which was trained without a fifth of the kinds. */
export function kindsLeftOut(own: readonly LabelledText[], others: readonly LabelledText[]): Case[] {
  const kinds = [...new Set(own.map(({ kind }) => kind))];
  const foldOf = ({ kind }: LabelledText): number => kinds.indexOf(kind) % FOLDS;
  return Array.from({ length: FOLDS }, (_, fold) => {
    const out = own.filter((text) => foldOf(text) === fold);
    return scoreLeftOut(out, [...others, ...own.filter((text) => foldOf(text) !== fold)]);
  }).flat();
}

/** A source, and a model that was trained with the texts of all other sources. */
export interface LeftOutSource {
  readonly source: string;
  readonly texts: readonly LabelledText[];
  readonly model: TextModel;
}

export function leaveSourcesOut(
  own: readonly LabelledText[],
  others: readonly LabelledText[],
): LeftOutSource[] {
  return [...Map.groupBy(others, ({ source }) => source)].map(([source, texts]) => ({
    source,
    texts,
    model: trainModel([...others.filter((text) => text.source !== source), ...own]),
  }));
}

/** The largest number of texts of one source that are scored. More texts would not say more. */
const MOST_OF_A_SOURCE = 3000;

/** Scores the texts of other people with models, each of which was trained without one source. */
export function sourcesLeftOut(leftOut: readonly LeftOutSource[]): Case[] {
  return leftOut.flatMap(({ texts, model }) => {
    const every = Math.ceil(texts.length / MOST_OF_A_SOURCE);
    return texts.filter((_, index) => index % every === 0).map((text) => textCase(text, model));
  });
}

/** A row of `measure.jsonl.gz`. */
export interface MeasureRow extends DataRow {
  readonly lang: string;
  readonly site?: string;
  readonly name_shape?: string;
  readonly email_domain?: string;
  readonly email_local_len?: number;
  readonly email_local_digits?: number;
  readonly email_local_dots?: number;
}

export function readMeasure(directory: string): MeasureRow[] {
  return readRows<MeasureRow>(`${directory}/measure.jsonl.gz`);
}

/** Returns the first row of each campaign, and every row that belongs to none. */
export function onePerCluster(rows: readonly MeasureRow[]): MeasureRow[] {
  const seen = new Set<number>();
  return rows.filter(({ cluster, site }) => {
    if (cluster === undefined || site === undefined) return true;
    if (seen.has(cluster)) return false;
    seen.add(cluster);
    return true;
  });
}

/**
 * Scores a row with the filter that ships.
 *
 * @param group the group of the case; null takes the row's site or source
 * @param withIdentity whether the post contains the sender's name and e-mail address
 */
export function measureCase(row: MeasureRow, group: string | null = null, withIdentity = false): Case {
  const content = row.subject ? { subject: row.subject, message: row.text } : { message: row.text };
  const fields = withIdentity ? { ...identityOf(row), ...content } : content;
  const about = {
    group: group ?? row.site ?? `${row.source}${row.lang === "" ? "" : ` (${row.lang})`}`,
    source: row.source,
    label: row.label,
    cluster: String(row.cluster ?? row.id),
  };
  return asCase(contentOf(fields), about, null);
}

/** Makes a name and an address. The data contain only shapes of names; `PERSON` stands for an ordinary name. */
export function identityOf(row: MeasureRow): { name: string; email: string } {
  const { email_local_len: length = 1, email_local_digits: digits = 0, email_local_dots: dots = 0 } = row;
  const letters = "a".repeat(Math.max(1, length - digits - dots));
  const email = `${letters}${"1".repeat(digits)}${".".repeat(dots)}@${(row.email_domain ?? "example.org").trim()}`;
  const shape = row.name_shape ?? "PERSON";
  const name = shape === "PERSON" ? "Ana Ruiz" : shape === "same-as-email" ? email : shape;
  return { name, email };
}

/** Scores the case without the evidence of one signal. */
export function scoreWithout({ evidence }: Case, signal: string): number {
  const { owner, ...kinds } = evidence;
  const rest = Object.entries(kinds).map(([kind, reasons]) => [
    kind,
    reasons.filter((reason) => reason.signal !== signal),
  ]);
  return weigh({ ...(Object.fromEntries(rest) as typeof kinds), owner }).score;
}
