import type { Html } from "../../foundation/html.ts";
import { MAX_SPAM_SCORE } from "../../outbox/queue/recipient.ts";
import { type Problems, textField } from "../kit/field.ts";

/** The input for the highest spam score of which a recipient gets messages. The forms of all kinds of recipients have it. */

const NAME = "max_spam_score";

export function spamScoreField(value: string, problems: Problems): Html {
  return textField({
    name: NAME,
    label: "Highest spam score",
    value,
    type: "number",
    hint: "A submission with a higher score is not sent. 100 sends all that are accepted.",
    problems,
  });
}

/** Reads the typed score. If it is no whole number from 0 to {@link MAX_SPAM_SCORE}, the result is NaN and a problem is added. */
export function readSpamScore(problems: Map<string, string>, typed: string): number {
  const score = /^\d{1,3}$/.test(typed) ? Number(typed) : Number.NaN;
  if (score <= MAX_SPAM_SCORE) return score;
  problems.set(NAME, `The highest spam score is a whole number from 0 to ${MAX_SPAM_SCORE}.`);
  return Number.NaN;
}
