import { afterFailure, afterSuccess, type Breaker } from "./breaker.ts";
import type { RecipientState } from "./recipient.ts";
import { nextAttemptAt } from "./retry-schedule.ts";
import type { AttemptResult, DeliveryPolicy, Settlement } from "./transport.ts";

/** Least time between two answers of `gone` that stop a recipient: a single one may come from a deployment. */
const GONE_APART_MS = 60_000;
/** From this many interruptions in a row on, each uses an attempt: a message that ends the process must run out of them. */
const FREE_INTERRUPTIONS = 4;

/** The rows of an attempt at its end. */
export interface AttemptSituation {
  readonly spent: number;
  readonly interruptions: number;
  readonly isProbe: boolean;
  readonly recipientState: RecipientState;
  readonly breaker: Breaker;
  readonly goneAt: number | null;
  readonly failingSince: number | null;
}

export interface SettlementTime {
  readonly now: number;
  /** From 0 up to 1; spreads retries. */
  readonly random: number;
}

export function settleAttempt(
  before: AttemptSituation,
  result: Pick<AttemptResult, "outcome" | "blame" | "retryAfterMs">,
  policy: DeliveryPolicy,
  { now, random }: SettlementTime,
): Settlement {
  const { recipientState, goneAt, failingSince, isProbe } = before;
  const { scheduleSeconds, probeSeconds, limits } = policy;
  const breakerLimits = { probeSeconds, perRecipient: limits.perRecipient };
  if (result.blame === "own") {
    const next = interrupt(before, recipientState, scheduleSeconds, now);
    return { ...next, recipientState, breaker: before.breaker, goneAt, failingSince };
  }
  if (result.blame === "nobody") {
    const breaker = afterSuccess(before.breaker, breakerLimits);
    const done = { state: "delivered", spent: before.spent, interruptions: 0, dueAt: now } as const;
    return { ...done, recipientState, breaker, goneAt: null, failingSince: null };
  }
  const { retryAfterMs } = result;
  const breaker = afterFailure(before.breaker, breakerLimits, { nowMs: now, isProbe, retryAfterMs });
  const spent = isProbe ? before.spent : before.spent + 1;
  const planned = nextAttemptAt({
    nowMs: now,
    spent: Math.max(spent, 1),
    scheduleSeconds,
    retryAfterMs,
    random,
  });
  const isGone = result.outcome === "gone";
  const stops = isGone && goneAt !== null && now - goneAt >= GONE_APART_MS && recipientState === "enabled";
  const nextState = stops ? "stopped" : recipientState;
  return {
    state: planned === null ? "failed" : waitingState(nextState),
    spent,
    interruptions: 0,
    // A failed probe goes behind the others, so that one bad message cannot keep the breaker open.
    dueAt: isProbe ? breaker.notBeforeMs : (planned ?? now),
    recipientState: nextState,
    breaker,
    goneAt: goneAt ?? (isGone ? now : null),
    failingSince: failingSince ?? now,
  };
}

/** The process ended, or is ending, before the answer came: the message waits longer each time in a row. */
export function interrupt(
  before: { readonly spent: number; readonly interruptions: number },
  recipientState: RecipientState,
  scheduleSeconds: readonly number[],
  now: number,
): Pick<Settlement, "state" | "spent" | "interruptions" | "dueAt"> {
  const interruptions = before.interruptions + 1;
  const spent = interruptions > FREE_INTERRUPTIONS ? before.spent + 1 : before.spent;
  const delaySeconds = scheduleSeconds[Math.min(interruptions, scheduleSeconds.length) - 1] ?? 0;
  const state = spent > scheduleSeconds.length ? "failed" : waitingState(recipientState);
  return { state, spent, interruptions, dueAt: now + Math.ceil(delaySeconds * 1000) };
}

/** The state in which a delivery waits: `held` if its recipient gets nothing at present. */
function waitingState(recipientState: RecipientState): "pending" | "held" {
  return recipientState === "enabled" ? "pending" : "held";
}
