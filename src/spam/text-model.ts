import type { BucketSet } from "./bucket-set.ts";
import { isUnspaced } from "./characters.ts";
import type { TextWords } from "./read-words.ts";
import {
  BUCKETS,
  characterBuckets,
  LONGEST_PIECE,
  pairBucket,
  pieceBucket,
  vocabularyBuckets,
  wordBucket,
} from "./text-features.ts";
import { LETTER_PAIRS, TEXT_BIAS, TEXT_STEPS, TEXT_WEIGHTS } from "./text-model.generated.ts";
import { subjectBuckets } from "./text-subjects.ts";

const letterPairs = new Uint8Array(Buffer.from(LETTER_PAIRS, "base64"));

/** The index of the first weight of words, and of subjects. The weights of characters come before them. */
export const WORDS_FROM = BUCKETS;
export const SUBJECTS_FROM = 2 * BUCKETS;

/** The stored value of the weight 0. A weight has four bits; the stored values 1 to 15 mean -7 to 7. */
export const NO_WEIGHT = 8;

/** The result of training: a weight for each bucket of characters, words and subjects. */
export interface TextModel {
  readonly bias: number;
  /** The log-odds of one unit of a weight. */
  readonly steps: { readonly characters: number; readonly words: number; readonly subjects: number };
  /** Two weights in each byte; the one with the even number is in the lower bits. */
  readonly weights: Readonly<Uint8Array>;
}

const shipped: TextModel = { bias: TEXT_BIAS, steps: TEXT_STEPS, weights: TEXT_WEIGHTS };

/** The log-odds that a normalised text is spam, by its words, characters and subjects alone. */
export function spamOdds(words: TextWords, model: TextModel = shipped): number {
  const { bias, steps, weights } = model;
  const forWords = steps.words * weigh(weights, WORDS_FROM, vocabularyBuckets(words), 0);
  const forSubjects = steps.subjects * weigh(weights, SUBJECTS_FROM, subjectBuckets(words), words.count);
  return bias + forWords + forSubjects + steps.characters * weigh(weights, 0, characterBuckets(words), 0);
}

/**
 * @param least if there are fewer features than this, they are scaled as if there were this many: one subject in a long text says little.
 */
function weigh(
  weights: Readonly<Uint8Array>,
  from: number,
  { buckets, count }: Readonly<BucketSet>,
  least: number,
): number {
  // A byte holds two weights, and each kind begins at a whole byte.
  const first = from >>> 1;
  let sum = -NO_WEIGHT * count;
  for (let index = 0; index < count; index += 1) {
    const bucket = buckets[index] ?? 0;
    sum += ((weights[first + (bucket >>> 1)] ?? 0) >>> ((bucket & 1) << 2)) & 15;
  }
  return count === 0 ? 0 : sum / Math.sqrt(Math.max(count, least));
}

/** The stored four bits of a weight. */
function heldAt(weights: Readonly<Uint8Array>, bucket: number): number {
  return ((weights[bucket >>> 1] ?? 0) >>> ((bucket & 1) << 2)) & 15;
}

/** The longest word or pair of words that a reason shows, in characters; the text between two words may be very long. */
const MAX_SHOWN = 100;

/** The words and pairs of words with the highest weights for spam, the heaviest first. */
export function heaviestWords(normalised: string, words: TextWords, most: number): string[] {
  const best: { weight: number; word: string }[] = [];
  const consider = (bucket: number, start: number, end: number): void => {
    const weight = heldAt(TEXT_WEIGHTS, WORDS_FROM + bucket) - NO_WEIGHT;
    if (weight <= (best.length < most ? 0 : (best[most - 1]?.weight ?? 0))) return;
    const word = normalised
      .slice(start, Math.min(end, start + MAX_SHOWN))
      .replace(UNSHOWN, " ")
      .trim();
    if (word === "" || best.some((other) => other.word === word)) return;
    best.push({ weight, word });
    best.sort((a, b) => b.weight - a.weight);
    best.length = Math.min(best.length, most);
  };
  for (let index = 0; index < words.count; index += 1) {
    const start = words.starts[index] ?? 0;
    const end = words.ends[index] ?? 0;
    if (isUnspaced(normalised.charCodeAt(start))) {
      for (let at = start + LONGEST_PIECE; at <= end; at += 1)
        consider(pieceBucket(normalised, at - LONGEST_PIECE, at), at - LONGEST_PIECE, at);
      continue;
    }
    consider(wordBucket(words, index), start, end);
    if (index > 0) consider(pairBucket(words, index), words.starts[index - 1] ?? 0, end);
  }
  return best.map(({ word }) => word);
}

/** The characters between the two words of a pair, which may be marks for links and numbers. */
const UNSHOWN = /[^\p{L}\p{M}']+/gu;

/**
 * How unusual the pairs of letters in a word are, as their mean: about 40 for words, 70 for random letters. The word is in the text from
 * `start` to `end` and has only Latin letters. @param codes the UTF-16 units of the text
 */
export function letterSurprise(codes: Readonly<Uint16Array>, start: number, end: number): number {
  const pairs = letterPairs;
  let sum = 0;
  let previous = 0;
  for (let at = start; at < end; at += 1) {
    const letter = ((codes[at] ?? 0) | 32) - 96;
    sum += pairs[previous * 27 + letter] ?? 0;
    previous = letter;
  }
  sum += pairs[previous * 27] ?? 0;
  return sum / (end - start + 1);
}
