import { afterFailure, afterSuccess } from "./breaker.ts";
import type { RecipientState } from "../queue/recipient.ts";
import { nextAttemptAt } from "./retry-schedule.ts";
import type { RecipientSituation } from "./recipient-situation.ts";
import type { AttemptResult, DeliveryPolicy, EndedAttempt, Settlement } from "./transport.ts";

/** The least time between the two answers `gone` that stop a recipient: a single one may come from a deployment. */
const GONE_APART_MS = 60_000;
/**
 * Interruptions in a row that spend no attempt. Each further one does, so that a message that always ends the process runs out of attempts.
 */
const FREE_INTERRUPTIONS = 4;

/** What an attempt finds in its rows when it ends. */
export interface AttemptSituation extends RecipientSituation {
  readonly spent: number;
  readonly interruptions: number;
  readonly isProbe: boolean;
}

export interface SettlementTime {
  readonly now: number;
  /** From 0 up to 1; spreads retries. */
  readonly random: number;
}

type Result = Pick<AttemptResult, "outcome" | "blame" | "retryAfterMs">;

export function settleAttempt(
  before: AttemptSituation,
  result: Result,
  policy: DeliveryPolicy,
  time: SettlementTime,
): Settlement {
  const { recipientState, breaker, goneAt, failingSince, refusals } = before;
  const sameRecipient = { recipientState, breaker, goneAt, failingSince, refusals };
  switch (result.blame) {
    case "nobody":
      return settleSuccess(before, policy, time);
    case "recipient":
      return settleFailure(before, result, policy, time);
    case "access":
      return { ...sameRecipient, ...settleNoAccess(before, result, policy, time.now) };
    case "message":
      return settleRefusal(before, policy, time);
    case "destination":
      return { ...sameRecipient, ...waitForDestination(before) };
    case "unsure":
      return { ...sameRecipient, ...loseEnd(before, recipientState, policy, time.now) };
    case "own":
      break;
  }
  return { ...sameRecipient, ...interrupt(before, recipientState, policy, time.now) };
}

/** What follows from an attempt. @param isFormer whether it went to an address that the recipient has no more */
export function settleEnded(
  { delivery, result, transport, random }: EndedAttempt,
  recipient: RecipientSituation,
  { isFormer, now }: { readonly isFormer: boolean; readonly now: number },
): Settlement {
  const { spent, interruptions, isProbe } = delivery;
  const before = { ...recipient, spent, interruptions, isProbe };
  return isFormer
    ? settleFormer(before, result, transport.policy, now)
    : settleAttempt(before, result, transport.policy, { now, random });
}

/**
 * For an attempt to an address that the recipient has no more. What it delivered is delivered; else the message goes to the new address soon
 * and has spent nothing. It says nothing about the recipient's new address.
 */
function settleFormer(
  before: AttemptSituation,
  { blame }: Pick<Result, "blame">,
  policy: DeliveryPolicy,
  now: number,
): Settlement {
  const { recipientState, breaker, goneAt, failingSince, refusals, spent } = before;
  const sameRecipient = { recipientState, breaker, goneAt, failingSince, refusals };
  if (blame === "nobody")
    return { ...sameRecipient, state: "delivered", spent, interruptions: 0, dueAt: now };
  return { ...sameRecipient, ...interrupt(before, recipientState, policy, now) };
}

function settleSuccess(
  before: AttemptSituation,
  policy: DeliveryPolicy,
  { now }: SettlementTime,
): Settlement {
  const { recipientState, spent, isProbe } = before;
  const breaker = afterSuccess(before.breaker, breakerLimits(policy), { isProbe });
  const done = { state: "delivered", spent, interruptions: 0, dueAt: now } as const;
  return { ...done, recipientState, breaker, goneAt: null, failingSince: null, refusals: 0 };
}

function settleFailure(
  before: AttemptSituation,
  { outcome, retryAfterMs }: Result,
  policy: DeliveryPolicy,
  { now, random }: SettlementTime,
): Settlement {
  const { recipientState, goneAt, failingSince, isProbe, refusals } = before;
  const breaker = afterFailure(before.breaker, breakerLimits(policy), { nowMs: now, isProbe, retryAfterMs });
  const spent = isProbe ? before.spent : before.spent + 1;
  const planned = nextAttemptAt({
    nowMs: now,
    spent: Math.max(spent, 1),
    scheduleSeconds: policy.scheduleSeconds,
    retryAfterMs,
    random,
  });
  const isGone = outcome === "gone";
  const stops = isGone && goneAt !== null && now - goneAt >= GONE_APART_MS && recipientState === "enabled";
  const nextState = stops ? "stopped" : recipientState;
  return {
    state: planned === null ? "failed" : waitingState(nextState),
    spent,
    // If recipients do not recognise a repeated message, every attempt with an unknown end counts, even if others came between.
    interruptions: policy.afterUnsure === null ? 0 : before.interruptions,
    // A failed probe is planned behind the other messages, so that one bad message cannot keep the breaker open.
    dueAt: isProbe ? breaker.notBeforeMs : (planned ?? now),
    recipientState: nextState,
    breaker,
    goneAt: goneAt ?? (isGone ? now : null),
    failingSince: failingSince ?? now,
    refusals,
  };
}

function settleRefusal(
  { spent, interruptions, recipientState, breaker, goneAt, failingSince, ...before }: AttemptSituation,
  { refusalsUntilStopped }: DeliveryPolicy,
  { now }: SettlementTime,
): Settlement {
  const refusals = before.refusals + 1;
  const stops = refusals >= refusalsUntilStopped && recipientState === "enabled";
  return {
    state: "failed",
    spent: spent + 1,
    interruptions,
    dueAt: now,
    recipientState: stops ? "stopped" : recipientState,
    breaker,
    goneAt,
    failingSince: failingSince ?? now,
    refusals,
  };
}

/**
 * The recipient's server refuses our access: the message waits as it does for a destination that fails, but only this recipient is
 * affected.
 */
function settleNoAccess(
  before: AttemptSituation,
  { retryAfterMs }: Result,
  policy: DeliveryPolicy,
  now: number,
): Pick<Settlement, "breaker" | "failingSince"> & ReturnType<typeof waitForDestination> {
  const limits = { ...breakerLimits(policy), failuresUntilProbes: 1 };
  const breaker = afterFailure(before.breaker, limits, { nowMs: now, isProbe: before.isProbe, retryAfterMs });
  return { ...waitForDestination(before), breaker, failingSince: before.failingSince ?? now };
}

type Wait = Pick<Settlement, "state" | "spent" | "interruptions"> & { readonly dueAt: number };

/** The message keeps its due time, so that the same message is the first to ask again whether the destination is back. */
function waitForDestination({ spent, interruptions, recipientState }: AttemptSituation) {
  return { state: waitingState(recipientState), spent, interruptions, dueAt: null };
}

interface Interruptible {
  readonly spent: number;
  readonly interruptions: number;
}

/** For an attempt whose process or connection ended before the answer came: the message may have arrived. */
export function loseEnd(
  before: Interruptible,
  recipientState: RecipientState,
  policy: Pick<DeliveryPolicy, "scheduleSeconds" | "afterUnsure">,
  now: number,
): Wait {
  const { afterUnsure, scheduleSeconds } = policy;
  if (afterUnsure === null) return interruptAgain(before, recipientState, scheduleSeconds, now);
  const interruptions = before.interruptions + 1;
  const state = interruptions > afterUnsure.most ? "failed" : waitingState(recipientState);
  return {
    state,
    spent: before.spent,
    interruptions,
    dueAt: now + Math.ceil(afterUnsure.delaySeconds * 1000),
  };
}

/** For an attempt that we ended before anything arrived. */
function interrupt(
  before: Interruptible,
  recipientState: RecipientState,
  { scheduleSeconds, afterUnsure }: DeliveryPolicy,
  now: number,
): Wait {
  if (afterUnsure === null) return interruptAgain(before, recipientState, scheduleSeconds, now);
  const { spent, interruptions } = before;
  const dueAt = now + Math.ceil((scheduleSeconds[0] ?? 0) * 1000);
  return { state: waitingState(recipientState), spent, interruptions, dueAt };
}

/** The message waits longer after each interruption in a row. */
function interruptAgain(
  before: Interruptible,
  recipientState: RecipientState,
  scheduleSeconds: readonly number[],
  now: number,
): Wait {
  const interruptions = before.interruptions + 1;
  const spent = interruptions > FREE_INTERRUPTIONS ? before.spent + 1 : before.spent;
  const delaySeconds = scheduleSeconds[Math.min(interruptions, scheduleSeconds.length) - 1] ?? 0;
  const state = spent > scheduleSeconds.length ? "failed" : waitingState(recipientState);
  return { state, spent, interruptions, dueAt: now + Math.ceil(delaySeconds * 1000) };
}

function breakerLimits({ probeSeconds, failuresUntilProbes, limits }: DeliveryPolicy) {
  return { probeSeconds, failuresUntilProbes, perRecipient: limits.perRecipient };
}

/** The state in which a delivery waits: `held` if its recipient gets nothing at present. */
function waitingState(recipientState: RecipientState): "pending" | "held" {
  return recipientState === "enabled" ? "pending" : "held";
}
