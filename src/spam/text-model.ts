import { namedWordBuckets, textBuckets } from "./text-features.ts";
import { LETTER_PAIRS, TEXT_BIAS, TEXT_SCALE, TEXT_WEIGHTS } from "./text-model.generated.ts";

const weights = new Int8Array(Buffer.from(TEXT_WEIGHTS, "base64"));
const letterPairs = new Uint8Array(Buffer.from(LETTER_PAIRS, "base64"));

/** How likely a normalised text is spam by its words and characters alone, 0 to 1. */
export function spamProbability(normalised: string): number {
  const { words, characters } = textBuckets(normalised);
  const sum = TEXT_BIAS + TEXT_SCALE * (weigh(words) + weigh(characters));
  return 1 / (1 + Math.exp(-sum));
}

function weigh(buckets: Readonly<Uint16Array>): number {
  let sum = 0;
  for (let index = 0; index < buckets.length; index += 1) sum += weights[buckets[index] ?? 0] ?? 0;
  return buckets.length === 0 ? 0 : sum / Math.sqrt(buckets.length);
}

/** The words and word pairs that speak most for spam, the heaviest first. */
export function heaviestWords(normalised: string, count: number): string[] {
  return [...namedWordBuckets(normalised)]
    .map(([word, bucket]): [string, number] => [word, weights[bucket] ?? 0])
    .filter(([, weight]) => weight > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([word]) => word);
}

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
