import { html, type Html } from "../../foundation/html.ts";
import { type Condition, sentText } from "../../outbox/queue/conditions.ts";
import { called, type ConditionFields } from "./condition-fields.ts";

/** The largest number of characters of a value that are shown. */
const MAX_SHOWN = 60;

/** The words for the kinds of conditions. */
export const CONDITION_VERBS: Readonly<Record<Condition["is"], string>> = {
  "=": "is",
  "!=": "is not",
  "~": "contains",
  ">": "is more than",
  "<": "is less than",
  filled: "is filled in",
  empty: "is empty",
};

/** A condition as part of a sentence: **Topic** is “support”. */
function conditionWords({ field, is, value }: Condition, fields: ConditionFields): Html {
  const hasValue = is !== "filled" && is !== "empty";
  return html`<b><bdi>${called(fields, field)}</bdi></b> ${CONDITION_VERBS[is]}${hasValue && html` “<bdi dir="auto">${value}</bdi>”`}`;
}

/** All conditions in one sentence; null if there are none. */
export function conditionsSentence(conditions: readonly Condition[], fields: ConditionFields): Html | null {
  if (conditions.length === 0) return null;
  const words = conditions.map(
    (each, index) => html`${index > 0 && ", and "}${conditionWords(each, fields)}`,
  );
  return html`Only if ${words}`;
}

/** Why nothing was sent: the condition, and what the post had instead. */
export function notSentWords(
  condition: Condition,
  data: Readonly<Record<string, unknown>>,
  fields: ConditionFields,
): Html {
  const { field } = condition;
  const sent = sentText(Object.hasOwn(data, field) ? data[field] : undefined, MAX_SHOWN);
  const is =
    sent === null ? "is filled in" : sent === "" ? "is empty" : html`is “<bdi dir="auto">${sent}</bdi>”`;
  return html`Only if ${conditionWords(condition, fields)}; here <bdi>${called(fields, field)}</bdi> ${is}.`;
}
