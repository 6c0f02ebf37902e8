import type { SpamReason } from "../judge.ts";
import type { ReadPost } from "../read-post.ts";
import { readWords } from "../read-words.ts";
import { heaviestWords } from "../text-model.ts";

/** Points for probabilities, straight lines between; at the last one the kind's cap is reached. */
const CURVE: readonly (readonly [probability: number, points: number])[] = [
  [0.35, 0],
  [0.5, 20],
  [0.7, 36],
  [0.9, 52],
  [0.97, 60],
  [0.995, 68],
  [1, 68],
];
/** A greeting or a "test" says nothing about its sender. */
const MIN_WORDS = 4;
const UNSPACED_CHARACTERS_A_WORD = 3;
/** So few words are too little evidence to make a post suspicious by their wording alone. */
const FEW_WORDS = 8;
const FEW_WORDS_CAP = 48;
const NAMED_WORDS = 4;

/** What the text model says of the words. */
export function textReasons(read: ReadPost): SpamReason[] {
  const count = wordsIn(read);
  if (count < MIN_WORDS) return [];
  const probability = 1 / (1 + Math.exp(-read.odds));
  const points = Math.min(pointsFor(probability), count < FEW_WORDS ? FEW_WORDS_CAP : Infinity);
  if (points === 0) return [];
  const words = heaviestWords(read.normalised, readWords(read.normalised), NAMED_WORDS).join(", ");
  return [
    { signal: "text", points, field: null, detail: `worded like spam${words === "" ? "" : `: ${words}`}` },
  ];
}

// Letters of scripts that are written without spaces between words.
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]/g;

/** Exact below {@link FEW_WORDS}; from there on more make no difference. */
function wordsIn({ normalised, wordCount }: ReadPost): number {
  if (wordCount >= FEW_WORDS) return wordCount;
  const unspaced = normalised.match(UNSPACED)?.length ?? 0;
  return Math.max(wordCount, Math.floor(unspaced / UNSPACED_CHARACTERS_A_WORD));
}

function pointsFor(probability: number): number {
  for (let index = 1; index < CURVE.length; index += 1) {
    const [lowAt, low] = CURVE[index - 1] ?? [0, 0];
    const [highAt, high] = CURVE[index] ?? [1, 0];
    if (probability <= highAt) {
      return Math.max(0, Math.round(low + ((probability - lowAt) / (highAt - lowAt)) * (high - low)));
    }
  }
  return 0;
}
