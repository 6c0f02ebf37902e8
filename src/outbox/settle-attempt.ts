import { afterFailure, afterSuccess, type Health } from "./breaker.ts";
import type { Verdict } from "../webhooks/classify.ts";
import { nextAttemptAt } from "./retry-schedule.ts";
import type { DeliverySettings, WebhookState } from "../webhooks/webhook.ts";

/** Two answers of 410 stop a webhook when they are this far apart: one may come from a deploy. */
const GONE_APART_MS = 60_000;
/** From this many interruptions in a row on, each spends an attempt: a message that ends the process must run out. */
const FREE_INTERRUPTIONS = 4;

/** What an attempt found in its rows when it ended. */
export interface AttemptSituation {
  readonly spent: number;
  readonly interruptions: number;
  readonly isProbe: boolean;
  readonly webhookState: WebhookState;
  readonly health: Health;
  readonly goneAt: number | null;
  readonly failingSince: number | null;
}

/** What the rows say after an attempt. */
export interface Settlement {
  readonly state: "delivered" | "pending" | "held" | "failed";
  readonly spent: number;
  readonly interruptions: number;
  readonly dueAt: number;
  readonly webhookState: WebhookState;
  readonly health: Health;
  readonly goneAt: number | null;
  readonly failingSince: number | null;
}

/** @param random from 0 up to 1, spreads retries. @param retryAfterMs what the receiver asked for, or null. */
export function settleAttempt(
  before: AttemptSituation,
  verdict: Verdict,
  retryAfterMs: number | null,
  settings: DeliverySettings,
  now: number,
  random: number,
): Settlement {
  const { webhookState, goneAt, failingSince } = before;
  const { scheduleSeconds, probeSeconds, limits } = settings;
  const breakerLimits = { probeSeconds, perWebhook: limits.perWebhook };
  if (verdict.blame === "own") {
    const next = interrupt(before, webhookState, scheduleSeconds, now);
    return { ...next, webhookState, health: before.health, goneAt, failingSince };
  }
  if (verdict.blame === "nobody") {
    const health = afterSuccess(before.health, breakerLimits);
    const done = { state: "delivered", spent: before.spent, interruptions: 0, dueAt: now } as const;
    return { ...done, webhookState, health, goneAt: null, failingSince: null };
  }
  const { isProbe } = before;
  const health = afterFailure(before.health, breakerLimits, { nowMs: now, isProbe, retryAfterMs });
  const spent = isProbe ? before.spent : before.spent + 1;
  const planned = nextAttemptAt({
    nowMs: now,
    spent: Math.max(spent, 1),
    scheduleSeconds,
    retryAfterMs,
    random,
  });
  const isGone = verdict.outcome === "gone";
  const stops = isGone && goneAt !== null && now - goneAt >= GONE_APART_MS && webhookState === "enabled";
  const nextState = stops ? "stopped" : webhookState;
  return {
    state: planned === null ? "failed" : waitingState(nextState),
    spent,
    interruptions: 0,
    // A probe that failed queues behind the others, so that one bad message cannot keep the receiver shut.
    dueAt: isProbe ? health.notBeforeMs : (planned ?? now),
    webhookState: nextState,
    health,
    goneAt: goneAt ?? (isGone ? now : null),
    failingSince: failingSince ?? now,
  };
}

/** The process ended, or is ending, before the answer came: each time in a row the message waits longer. */
export function interrupt(
  before: { readonly spent: number; readonly interruptions: number },
  webhookState: WebhookState,
  scheduleSeconds: readonly number[],
  now: number,
): Pick<Settlement, "state" | "spent" | "interruptions" | "dueAt"> {
  const interruptions = before.interruptions + 1;
  const spent = interruptions > FREE_INTERRUPTIONS ? before.spent + 1 : before.spent;
  const delaySeconds = scheduleSeconds[Math.min(interruptions, scheduleSeconds.length) - 1] ?? 0;
  const state = spent > scheduleSeconds.length ? "failed" : waitingState(webhookState);
  return { state, spent, interruptions, dueAt: now + Math.ceil(delaySeconds * 1000) };
}

function waitingState(webhookState: WebhookState): "pending" | "held" {
  return webhookState === "enabled" ? "pending" : "held";
}
