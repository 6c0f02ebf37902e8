import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { FILTER_VERSION } from "../../src/spam/score-spam.ts";
import * as points from "../../src/spam/points.ts";
import { SUBJECT_WORDS } from "../../src/spam/subject-words.ts";
import { readLanguages } from "../../src/spam/phrases/languages.ts";
import { LETTER_PAIRS, TEXT_BIAS, TEXT_STEPS, TEXT_WEIGHTS } from "../../src/spam/text-model.generated.ts";

/** What each version of the filter was made of. A released one is never changed: a new one is added. */
const FINGERPRINTS: Readonly<Record<number, string>> = {
  2: "QaG0WGBoiGjIV1xUgtrZAAlKL7t1xBQrk7XdULqea2E",
  3: "tEXmz8jqo9BgumOKccHXVXugijX6k-wBx98WQSetYfs",
  4: "B95_HlfPAl8KzafH6SE77dttkfKqyDxiPpMcKC8ro1s",
  5: "dryfx4_kswvDTnwzBmDOEiqwkrw-RHEHt_9nmsMK-aY",
};

/** The order in which the numbers of version 5 were listed; a module lists its exports by name. */
const ORDER: readonly string[] = [
  "POINTS",
  "TEXT_NEUTRAL_ODDS",
  "TEXT_POINTS_PER_ODDS",
  "PHRASES_LEAST_ODDS",
  "TEXT_LEAST",
  "TEXT_MOST",
  "CONTENT_BOUNDS",
  "CAPS",
  "KIND_MINIMUM",
];

function positionOf(name: string): number {
  const position = ORDER.indexOf(name);
  return position === -1 ? ORDER.length : position;
}

test("a change of weights or points needs a new version, which is stored with each score", () => {
  const named = Object.entries(points).toSorted(([a], [b]) => positionOf(a) - positionOf(b));
  const numbers = JSON.stringify([
    Object.fromEntries(named),
    TEXT_BIAS,
    TEXT_STEPS,
    LETTER_PAIRS,
    SUBJECT_WORDS,
    readLanguages(),
  ]);
  const weights = Buffer.from(TEXT_WEIGHTS.buffer).toString("base64");
  expect(hash("sha256", numbers + weights, "base64url")).toBe(FINGERPRINTS[FILTER_VERSION]);
});
