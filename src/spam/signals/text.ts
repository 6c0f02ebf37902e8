import type { SpamReason } from "../judge.ts";
import type { ReadPost } from "../read-post.ts";
import { countWords } from "../text-features.ts";
import { heaviestWords, spamProbability } from "../text-model.ts";

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
/** Scripts without spaces write a sentence as one word. */
const MIN_CHARACTERS_WITHOUT_SPACES = 12;
const NAMED_WORDS = 4;

/** What the text model says of the words. */
export function textReasons(read: ReadPost): SpamReason[] {
  if (!isSentence(read.normalised)) return [];
  const probability = spamProbability(read.normalised);
  const points = pointsFor(probability);
  if (points === 0) return [];
  const words = heaviestWords(read.normalised, NAMED_WORDS).join(", ");
  return [
    { signal: "text", points, field: null, detail: `worded like spam${words === "" ? "" : `: ${words}`}` },
  ];
}

// A code point from here on belongs to a script that may be written without spaces.
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

function isSentence(text: string): boolean {
  if (countWords(text) >= MIN_WORDS) return true;
  return UNSPACED.test(text) && text.trim().length >= MIN_CHARACTERS_WITHOUT_SPACES;
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
