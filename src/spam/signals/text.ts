import {
  TEXT_LEAST,
  TEXT_MOST,
  TEXT_NEUTRAL_ODDS,
  TEXT_POINTS_PER_ODDS,
  TEXT_SIGN_POINTS,
  TEXT_SIGNS,
} from "../points.ts";
import { UNSPACED } from "../characters.ts";
import type { ReadPost } from "../read-post.ts";
import { readWords } from "../read-words.ts";
import type { SpamReason } from "../spam-verdict.ts";
import { heaviestWords } from "../text-model.ts";
import { isBare } from "./links.ts";
import { countSubjects } from "../text-subjects.ts";

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
  const told = Math.max(0, points - TEXT_SIGN_POINTS * missingSigns(read));
  return wordCount < FEW_WORDS || isBare(read) ? Math.min(told, FEW_WORDS_CAP) : told;
}

const NUMBER = /[\p{Nd}\ue002-\ue005]/u;
const QUESTION = /[?؟]/;

/** A pitch speaks of many things in few words, names numbers and asks; a sentence of a book or of the news seldom does all that. */
function missingSigns({ links, normalised, modelText, wordCount }: ReadPost): number {
  if (links.length > 0) return 0;
  const { least, most, wordsForOneMore } = TEXT_SIGNS;
  let missing = Math.min(most, least + Math.floor(wordCount / wordsForOneMore));
  missing -= countSubjects(modelText, readWords(modelText));
  if (NUMBER.test(normalised)) missing -= 1;
  if (QUESTION.test(normalised)) missing -= 1;
  return Math.max(0, missing);
}

const ALL_UNSPACED = new RegExp(UNSPACED, "g");

/** Exact below {@link FEW_WORDS}; above it the number makes no difference. */
function wordsIn({ normalised, wordCount }: ReadPost): number {
  if (wordCount >= FEW_WORDS) return wordCount;
  const unspaced = normalised.match(ALL_UNSPACED)?.length ?? 0;
  return Math.max(wordCount, Math.floor(unspaced / UNSPACED_CHARACTERS_A_WORD));
}
