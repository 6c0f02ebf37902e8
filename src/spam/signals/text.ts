import {
  TEXT_LEAST,
  TEXT_MOST,
  TEXT_NEUTRAL_ODDS,
  TEXT_POINTS_PER_ODDS,
  TEXT_STATEMENT_DISCOUNT,
} from "../points.ts";
import type { ReadPost } from "../read-post.ts";
import { readWords } from "../read-words.ts";
import type { SpamReason } from "../spam-verdict.ts";
import { heaviestWords } from "../text-model.ts";
import { isBare } from "./links.ts";
import { addressesSomebody } from "../text-subjects.ts";

/** A greeting or a "test" says nothing about its sender. */
const MIN_WORDS = 4;
const UNSPACED_CHARACTERS_A_WORD = 3;
/** Below this number of words, or with little more than a link, the wording alone is too little evidence to make a post suspicious. */
const FEW_WORDS = 8;
const FEW_WORDS_CAP = 42;
const NAMED_WORDS = 4;

/** What the text model says of the words: log-odds in points, for the sender or against. */
export function textReasons(read: ReadPost): SpamReason[] {
  const count = wordsIn(read);
  if (count < MIN_WORDS) return [];
  const weight = Math.round(TEXT_POINTS_PER_ODDS * (read.odds - TEXT_NEUTRAL_ODDS));
  const points = Math.max(TEXT_LEAST, Math.min(TEXT_MOST, weight));
  if (points < 0) return [{ signal: "text", points, field: null, detail: "reads like genuine mail" }];
  const against = pointsAgainst(points, count, read);
  if (against === 0) return [];
  const words = heaviestWords(read.modelText, readWords(read.modelText), NAMED_WORDS).join(", ");
  return [
    {
      signal: "text",
      points: against,
      field: null,
      detail: `worded like spam${words === "" ? "" : `: ${words}`}`,
    },
  ];
}

/** What is left of the points if the wording is little evidence. */
function pointsAgainst(points: number, wordCount: number, read: ReadPost): number {
  const told = isStatement(read) ? Math.max(0, points - TEXT_STATEMENT_DISCOUNT) : points;
  return wordCount < FEW_WORDS || isBare(read) ? Math.min(told, FEW_WORDS_CAP) : told;
}

/** What a pitch has and a sentence of the news often has not: a number, an address, a question, an exclamation. */
const PITCH_MARKS = /[!?؟\p{Nd}\ue001-\ue005]/u;

/** A text that speaks to nobody, gives no way to answer and names no number tells something rather than sells it. */
function isStatement({ links, normalised, modelText }: ReadPost): boolean {
  return (
    links.length === 0 && !PITCH_MARKS.test(normalised) && !addressesSomebody(modelText, readWords(modelText))
  );
}

// Letters of scripts that are written without spaces between words.
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]/g;

/** Exact below {@link FEW_WORDS}; above it the number makes no difference. */
function wordsIn({ normalised, wordCount }: ReadPost): number {
  if (wordCount >= FEW_WORDS) return wordCount;
  const unspaced = normalised.match(UNSPACED)?.length ?? 0;
  return Math.max(wordCount, Math.floor(unspaced / UNSPACED_CHARACTERS_A_WORD));
}
