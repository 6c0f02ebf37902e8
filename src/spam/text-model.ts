import { eachWordBucket, textBuckets } from "./text-features.ts";
import { LETTER_PAIRS, TEXT_BIAS, TEXT_SCALE, TEXT_WEIGHTS } from "./text-model.generated.ts";

const weights = new Int8Array(Buffer.from(TEXT_WEIGHTS, "base64"));
const letterPairs = new Uint8Array(Buffer.from(LETTER_PAIRS, "base64"));

/** The log-odds that a normalised text is spam, by its words and characters alone. */
export function spamOdds(normalised: string): number {
  const { words, characters } = textBuckets(normalised);
  return TEXT_BIAS + TEXT_SCALE * (weigh(words) + weigh(characters));
}

function weigh(buckets: Readonly<Uint16Array>): number {
  let sum = 0;
  for (let index = 0; index < buckets.length; index += 1) sum += weights[buckets[index] ?? 0] ?? 0;
  return buckets.length === 0 ? 0 : sum / Math.sqrt(buckets.length);
}

/** The words and word pairs that speak most for spam, the heaviest first. */
export function heaviestWords(normalised: string, count: number): string[] {
  const best: { weight: number; word: string }[] = [];
  eachWordBucket(normalised, (bucket, start, end) => {
    const weight = weights[bucket] ?? 0;
    if (weight <= (best.length < count ? 0 : (best[count - 1]?.weight ?? 0))) return;
    const word = normalised.slice(start, end).replace(UNSHOWN, " ").trim();
    if (word === "" || best.some((other) => other.word === word)) return;
    best.push({ weight, word });
    best.sort((a, b) => b.weight - a.weight);
    best.length = Math.min(best.length, count);
  });
  return best.map(({ word }) => word);
}

/** What stands between two words of a pair, the marks for links and numbers among it. */
const UNSHOWN = /[^\p{L}\p{M}']+/gu;

/** How unusual the letters of a word follow each other: the mean over its pairs; about 40 for words, 70 for random ones. */
export function letterSurprise(word: string): number {
  let sum = 0;
  let previous = 0;
  for (let at = 0; at <= word.length; at += 1) {
    const letter = at === word.length ? 0 : (word.charCodeAt(at) | 32) - 96;
    sum += letterPairs[previous * 27 + letter] ?? 0;
    previous = letter;
  }
  return sum / (word.length + 1);
}
