import { TEXT_LEAST, TEXT_MOST, TEXT_NEUTRAL_ODDS, TEXT_POINTS_PER_ODDS } from "../points.ts";
import { UNSPACED } from "../characters.ts";
import type { ReadPost } from "../read-post.ts";
import { readWords } from "../read-words.ts";
import type { SpamReason } from "../spam-verdict.ts";
import { heaviestWords } from "../text-model.ts";

/** The least number of words that count. A greeting or a "test" says nothing about its sender. */
const MIN_WORDS = 4;
const UNSPACED_CHARACTERS_A_WORD = 3;
const NAMED_WORDS = 4;

/** The evidence of the text model: the log-odds of the words as points, for the sender or against. */
export function textReasons(read: ReadPost): SpamReason[] {
  if (!hasWords(read)) return [];
  const weight = Math.round(TEXT_POINTS_PER_ODDS * (read.odds - TEXT_NEUTRAL_ODDS));
  const points = Math.max(TEXT_LEAST, Math.min(TEXT_MOST, weight));
  if (points < 0) return [{ signal: "text", points, field: null, detail: "reads like genuine mail" }];
  if (points === 0) return [];
  const words = heaviestWords(read.modelText, readWords(read.modelText), NAMED_WORDS).join(", ");
  return [
    {
      signal: "text",
      points,
      field: null,
      detail: `worded like spam${words === "" ? "" : `: ${words}`}`,
    },
  ];
}

const ALL_UNSPACED = new RegExp(UNSPACED, "g");

function hasWords({ normalised, wordCount }: ReadPost): boolean {
  if (wordCount >= MIN_WORDS) return true;
  const unspaced = normalised.match(ALL_UNSPACED)?.length ?? 0;
  return unspaced >= MIN_WORDS * UNSPACED_CHARACTERS_A_WORD;
}
