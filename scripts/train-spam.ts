import { writeFileSync } from "node:fs";
import { findLinks } from "../src/spam/links.ts";
import { normaliseText } from "../src/spam/normalise-text.ts";
import { readWords } from "../src/spam/read-words.ts";
import { BUCKETS, characterBuckets, wordBuckets } from "../src/spam/text-features.ts";
import { letterPairs } from "./spam/letter-pairs.ts";
import { trainLogistic, type Example } from "./spam/logistic.ts";
import { readOwnTexts, readTrainingData, type LabelledText } from "./spam/texts.ts";

const target = new URL("../src/spam/text-model.generated.ts", import.meta.url);
const ownTexts = new URL("./spam/texts/", import.meta.url);

/**
 * How much one text of a source counts. Sources of one-line requests are many and alike, so each counts little; texts
 * that were written for this project are few and on the very subject, so each counts much.
 */
const SOURCE_WEIGHTS: Readonly<Record<string, number>> = {
  "own-spam": 6,
  "own-ham": 6,
  "tg-spam-samples/ham": 2,
  "sms-spam-collection/ham": 0.4,
  "ham-banking77": 0.15,
  "ham-clinc150": 0.08,
};
const TRAINING = { epochs: 10, settled: 3, rate: 0.4, decay: 0.001 };
const INT8_MAX = 127;

/** The source of the module that carries the weights inside the executable: the same bytes for the same texts. */
export function renderModel(texts: readonly LabelledText[]): string {
  const model = trainLogistic(texts.map(asExample), BUCKETS, TRAINING);
  const largest = model.weights.reduce((max, weight) => Math.max(max, Math.abs(weight)), 0);
  const scale = largest / INT8_MAX;
  const bytes = Int8Array.from(model.weights, (weight) => Math.round(weight / scale));
  return [
    "// Made by scripts/train-spam.ts; docs/spam-model.md says from what.",
    `export const TEXT_BIAS = ${model.bias.toPrecision(6)};`,
    `export const TEXT_SCALE = ${scale.toPrecision(6)};`,
    `export const TEXT_WEIGHTS = new Int8Array(\n  Buffer.from("${Buffer.from(bytes.buffer).toString("base64")}", "base64"),\n);`,
    `export const LETTER_PAIRS =\n  "${Buffer.from(letterPairs(texts)).toString("base64")}";`,
    "",
  ].join("\n");
}

/** Everything that may train: the data directory's training file and the project's own texts. */
export function trainingTexts(dataDirectory: string): LabelledText[] {
  return [...readTrainingData(dataDirectory), ...readOwnTexts(ownTexts)];
}

function asExample({ source, label, text }: LabelledText): Example {
  const normalised = normaliseText(text, findLinks(text));
  const words = wordBuckets(readWords(normalised));
  const characters = characterBuckets(normalised);
  const weight = SOURCE_WEIGHTS[`${source}/${label}`] ?? SOURCE_WEIGHTS[source] ?? 1;
  return {
    words: words.buckets.slice(0, words.count),
    characters: characters.buckets.slice(0, characters.count),
    spam: label === "spam",
    weight,
  };
}

if (import.meta.main) {
  const directory = process.argv[2];
  if (directory === undefined) throw new Error("usage: npm run train:spam -- DATA_DIR");
  writeFileSync(target, renderModel(trainingTexts(directory)));
}
