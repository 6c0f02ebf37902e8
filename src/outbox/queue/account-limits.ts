import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import { countUse, freeAgainAt, isWithin, quotaKey } from "./quotas.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

/** An action that an account may cause a limited number of times an hour, over all recipients of every kind together. */
export type LimitedAction = "test" | "replay-as-new";

/** The account whose actions are counted. Commands are not counted: whoever runs the server runs them on its machine. */
export interface LimitedAccount {
  readonly accountId: string;
  readonly isOperator: boolean;
}
const MOST: Readonly<Record<LimitedAction, number>> = { test: 60, "replay-as-new": 100 };
/** The limits of an operator are this many times as high. */
const OPERATOR_FACTOR = 10;
const WORDS: Readonly<Record<LimitedAction, string>> = {
  test: "tests",
  "replay-as-new": "messages again as new ones",
};

/**
 * Counts messages that an account causes, in the current transaction. One action may cause many messages; if it begins within the limit, it
 * is done whole.
 *
 * @throws rate_limited if the account caused too many within an hour.
 */
export function* countAction(
  { accountId, isOperator }: LimitedAccount,
  action: LimitedAction,
  messages: number,
  now: number,
): Steps<void> {
  const most = MOST[action] * (isOperator ? OPERATOR_FACTOR : 1);
  const quota = { key: quotaKey(action, accountId), most, ms: HOUR_MS };
  if (!(yield* isWithin([quota], now))) {
    const waitMs = (yield* freeAgainAt(quota, now)) - now;
    throw tooMany(action, most, Math.max(1, Math.ceil(waitMs / 1000)));
  }
  for (let count = 0; count < Math.min(messages, most); count += 1)
    yield* countUse([quota], newId("msg", now), now);
}

function tooMany(action: LimitedAction, most: number, retryAfterSeconds: number): FormsvcError {
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const wait = minutes === 1 ? "in a minute" : `in ${minutes} minutes`;
  const message = `in an hour, an account sends ${most} ${WORDS[action]} at most, over all webhooks, chats and recipients: nothing was sent, try it again ${wait}`;
  return new FormsvcError("rate_limited", message, { retryAfterSeconds });
}
