import { type Condition, type ConditionData, unmetBy } from "./conditions.ts";
import type { EventParts } from "./event.ts";
import { REPLY_KIND } from "./recipient.ts";

/** The members of a recipient that queueing needs. */
export interface KnownRecipient {
  readonly id: string;
  readonly kind: string;
  readonly max_spam_score: number;
  readonly endpoint_name: string;
  /** JSON, as in `recipient.conditions`; null if it has none. */
  readonly conditions: string | null;
}

export const RECIPIENTS_OF_ENDPOINT_SQL = `SELECT recipient.id, recipient.kind, recipient.max_spam_score,
    recipient.conditions, endpoint.name AS endpoint_name
  FROM recipient JOIN endpoint ON endpoint.id = recipient.endpoint_id
  WHERE recipient.endpoint_id = ? AND recipient.confirmed_at IS NOT NULL`;

/** A recipient that did not get a submission, and the first of its conditions that did not hold. */
export interface LeftOut extends Condition {
  /** The id of the recipient. */
  readonly id: string;
  /** The kind of the recipient, as in `recipient.kind`. */
  readonly kind: string;
}

export interface DecidedRecipients {
  readonly chosen: readonly KnownRecipient[];
  /** The recipients that were left out, as the submission's row keeps them: a JSON array of {@link LeftOut}; null if there are none. */
  readonly notSent: string | null;
}

/** Leaves out each recipient with a condition that does not hold. @param data the post; without it every condition counts as met. */
export function choose(
  wanting: readonly KnownRecipient[],
  data: ConditionData | undefined,
): DecidedRecipients {
  if (data === undefined || wanting.every(isWithoutConditions)) return { chosen: wanting, notSent: null };
  const findUnmet = unmetBy(data);
  const chosen: KnownRecipient[] = [];
  const leftOut: string[] = [];
  for (const recipient of wanting) {
    const { id, kind, conditions } = recipient;
    const unmet = conditions === null ? null : findUnmet(conditions);
    if (unmet === null) chosen.push(recipient);
    else leftOut.push(leftOutJson(id, kind, unmet));
  }
  return { chosen, notSent: leftOut.length === 0 ? null : `[${leftOut.join(",")}]` };
}

/**
 * A {@link LeftOut} as JSON. Nothing is escaped: an id and a kind consist of letters, digits and `_`. @param unmet the condition as JSON.
 */
function leftOutJson(id: string, kind: string, unmet: string): string {
  return `{"id":"${id}","kind":"${kind}",${unmet.slice(1)}`;
}

function isWithoutConditions({ conditions }: KnownRecipient): boolean {
  return conditions === null;
}

/** The part of the choice that is stored with a post whose messages must wait: only the automatic reply goes out at once. */
export function decidedNow({ chosen, notSent }: DecidedRecipients): Pick<EventParts, "notSent" | "waiting"> {
  const waiting = chosen.filter(({ kind }) => kind !== REPLY_KIND).map(({ id }) => id);
  return { notSent, waiting: JSON.stringify(waiting) };
}

/** Reads what {@link choose} has stored as `notSent`. */
export function readNotSent(stored: string | null): readonly LeftOut[] {
  return stored === null ? [] : (JSON.parse(stored) as LeftOut[]);
}
