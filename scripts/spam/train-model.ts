import type { BucketSet } from "../../src/spam/bucket-set.ts";
import { findLinks } from "../../src/spam/links.ts";
import { normaliseText, withLinkWords } from "../../src/spam/normalise-text.ts";
import { readWords } from "../../src/spam/read-words.ts";
import { characterBuckets, vocabularyBuckets } from "../../src/spam/text-features.ts";
import { NO_WEIGHT, SUBJECTS_FROM, type TextModel, WORDS_FROM } from "../../src/spam/text-model.ts";
import { SUBJECT_PLACES, subjectBuckets } from "../../src/spam/text-subjects.ts";
import { type Example, type FeatureGroup, trainLogistic } from "./logistic.ts";
import type { LabelledText } from "./texts.ts";

/**
 * How much one text of a source counts; 1 if the source is not named. Sources of one-line requests have many similar texts, so each counts
 * little.
 */
const SOURCE_WEIGHTS: Readonly<Record<string, number>> = {
  "tg-spam-samples/ham": 2,
  "sms-spam-collection/ham": 0.4,
  "ham-banking77/ham": 0.15,
  "ham-clinc150/ham": 0.08,
};
const TRAINING = { epochs: 6, settled: 2, rate: 0.2, decay: 0.02 };
/** The largest weight that fits into four bits. */
const MOST_UNITS = 7;
/**
 * The share of the weights of one kind of feature that are cut because they do not fit into four bits. It is better to have finer units for
 * all other weights.
 */
const CUT_SHARE = 0.0005;

/** Trains the model. The same texts in the same order always give the same weights. */
export function trainModel(texts: readonly LabelledText[], training = TRAINING): TextModel {
  const { bias, weights } = trainLogistic(texts.map(asExample), SUBJECTS_FROM + SUBJECT_PLACES, training);
  const packed = new Uint8Array(Math.ceil(weights.length / 2));
  const pack = (from: number, to: number): number => packWeights(weights.subarray(from, to), packed, from);
  return {
    bias,
    steps: {
      characters: pack(0, WORDS_FROM),
      words: pack(WORDS_FROM, SUBJECTS_FROM),
      subjects: pack(SUBJECTS_FROM, weights.length),
    },
    weights: packed,
  };
}

/** Rounds weights to four bits each, writes them to their positions, and returns the value of one unit. */
function packWeights(weights: Readonly<Float64Array>, into: Uint8Array, from: number): number {
  const sizes = Float64Array.from(weights, Math.abs).sort();
  const largest = sizes[Math.floor(sizes.length * (1 - CUT_SHARE))] ?? 0;
  const step = asWritten(largest / MOST_UNITS);
  weights.forEach((weight, index) => {
    const units = Math.max(-MOST_UNITS, Math.min(MOST_UNITS, Math.round(weight / step)));
    const place = from + index;
    into[place >>> 1] = (into[place >>> 1] ?? 0) | ((units + NO_WEIGHT) << ((place & 1) << 2));
  });
  return step;
}

/** Rounds to the digits that the generated file has. */
function asWritten(step: number): number {
  return Number(step.toPrecision(6));
}

/** The examples that were already made, because to read a text takes longer than to train with it once. */
const known = new Map<LabelledText, Example>();

function asExample(labelled: LabelledText): Example {
  let example = known.get(labelled);
  if (example === undefined) {
    example = readExample(labelled);
    known.set(labelled, example);
  }
  return example;
}

function readExample({ source, label, text }: LabelledText): Example {
  const links = findLinks(text);
  const modelText = withLinkWords(normaliseText(text, links), links);
  const words = readWords(modelText);
  return {
    groups: [
      groupOf(vocabularyBuckets(words), WORDS_FROM, 0),
      groupOf(characterBuckets(words), 0, 0),
      groupOf(subjectBuckets(words), SUBJECTS_FROM, words.count),
    ],
    spam: label === "spam",
    weight: SOURCE_WEIGHTS[`${source}/${label}`] ?? 1,
  };
}

function groupOf({ buckets, count }: Readonly<BucketSet>, from: number, least: number): FeatureGroup {
  const places = Uint32Array.from(buckets.subarray(0, count), (bucket) => from + bucket);
  return { places, size: Math.max(count, least) };
}
