import { roomFor } from "./slots.ts";
import type { Pace } from "./transport.ts";
import { HOUR_MS, MINUTE_MS } from "../../foundation/time-units.ts";

/** What one recipient got lately, in its hour and its window. Times are milliseconds since 1970. */
export interface PaceState {
  /** When the window began; `windowSent` is the number of messages begun in it. */
  readonly windowAt: number;
  readonly windowSent: number;
  readonly hourAt: number;
  readonly hourSent: number;
  /** Messages are gathered until this time, and then go as one; null while each goes by itself. */
  readonly gathersUntil: number | null;
}

export const FRESH_PACE: PaceState = {
  windowAt: 0,
  windowSent: 0,
  hourAt: 0,
  hourSent: 0,
  gathersUntil: null,
};

/** What may begin now. */
export type PaceStep =
  /** Each message goes by itself, at most `most` of them. */
  | { readonly kind: "each"; readonly most: number }
  /** All waiting messages go as one. */
  | { readonly kind: "together" }
  /** No message goes before this time. */
  | { readonly kind: "wait"; readonly until: number };
/** Nothing is gathered for longer than this, so a later time was planned by a clock that was ahead. */
const LONGEST_GATHERING_MS = 36 * HOUR_MS;

/**
 * Decides how the waiting messages of a recipient may begin. @param gatherSeconds how long the recipient wants its messages gathered; null
 * if it does not.
 */
export function nextStep(state: PaceState, pace: Pace, gatherSeconds: number | null, now: number): PaceStep {
  const { gathersUntil } = state;
  const hour = hourOf(state, pace, now);
  if (gathersUntil !== null) {
    if (now < gathersUntil && gathersUntil <= now + LONGEST_GATHERING_MS)
      return { kind: "wait", until: gathersUntil };
    return hour.left > 0 ? { kind: "together" } : { kind: "wait", until: hour.endsAt };
  }
  if (gatherSeconds !== null) return { kind: "wait", until: now + Math.ceil(gatherSeconds * 1000) };
  const window = windowOf(state, pace, now);
  const most = Math.min(window.left, hour.left);
  if (most > 0) return { kind: "each", most };
  const until = Math.max(window.left > 0 ? 0 : window.endsAt, hour.left > 0 ? 0 : hour.endsAt);
  return { kind: "wait", until };
}

/** The state after `count` messages were begun. A summary counts as one message. */
export function noteBegun(state: PaceState, pace: Pace, count: number, now: number): PaceState {
  const window = windowOf(state, pace, now);
  const hour = hourOf(state, pace, now);
  return {
    windowAt: window.at,
    windowSent: window.sent + count,
    hourAt: hour.at,
    hourSent: hour.sent + count,
    gathersUntil: state.gathersUntil,
  };
}

interface Span {
  readonly at: number;
  readonly sent: number;
  readonly left: number;
  readonly endsAt: number;
}

function windowOf({ windowAt, windowSent }: PaceState, { perRecipientInWindow }: Pace, now: number): Span {
  const { most, seconds } = perRecipientInWindow;
  return spanOf({ at: windowAt, sent: windowSent }, { most, lengthMs: seconds * 1000 }, now);
}

function hourOf({ hourAt, hourSent }: PaceState, { perRecipientPerHour: most }: Pace, now: number): Span {
  return spanOf({ at: hourAt, sent: hourSent }, { most, lengthMs: HOUR_MS }, now);
}

/** Returns a span of time, begun anew if it is over or was begun by a clock that was ahead. */
function spanOf(
  begun: { readonly at: number; readonly sent: number },
  { most, lengthMs }: { readonly most: number; readonly lengthMs: number },
  now: number,
): Span {
  const isOpen = begun.at <= now && now < begun.at + lengthMs;
  const { at, sent } = isOpen ? begun : { at: now, sent: 0 };
  return { at, sent, left: Math.max(most - sent, 0), endsAt: at + lengthMs };
}

/** Counts the messages begun in the current minute, to all recipients of a kind. It is in memory, so a new process begins a new minute. */
export class MinuteRate {
  readonly #perMinute: number;
  #most: number;
  /** Whether recipients of several workspaces share the minute. */
  #isShared = false;
  #startedAt = 0;
  #count = 0;
  /** The messages begun in this minute, by workspace. */
  #counts = new Map<string, number>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#most = perMinute;
  }

  copy(): MinuteRate {
    const copy = new MinuteRate(this.#perMinute);
    copy.follow(this);
    return copy;
  }

  /** Takes over the counts of a copy. */
  follow(copy: MinuteRate): void {
    this.#most = copy.#most;
    this.#isShared = copy.#isShared;
    this.#startedAt = copy.#startedAt;
    this.#count = copy.#count;
    this.#counts = new Map(copy.#counts);
  }

  /**
   * Shares the messages of a minute evenly among servers, so that together they never send more; but each may begin at least one. If there
   * are several workspaces, none may begin more than half of this server's part.
   */
  shareAmong(servers: number, workspaces: number): void {
    this.#most = Math.max(Math.floor(this.#perMinute / servers), 1);
    this.#isShared = workspaces > 1;
  }

  /** When a workspace may begin more messages, in milliseconds since 1970; 0 if it may now. */
  readyAt(workspaceId: string): number {
    return this.#room(workspaceId) > 0 ? 0 : this.#startedAt + MINUTE_MS;
  }

  left(workspaceId: string, now: number): number {
    this.beginMinute(now);
    return Math.max(this.#room(workspaceId), 0);
  }

  note(workspaceId: string, count: number, now: number): void {
    this.beginMinute(now);
    this.#count += count;
    this.#counts.set(workspaceId, this.#ownOf(workspaceId) + count);
  }

  #ownOf(workspaceId: string): number {
    return this.#counts.get(workspaceId) ?? 0;
  }

  #room(workspaceId: string): number {
    const taken = this.#count;
    if (!this.#isShared) return this.#most - taken;
    return roomFor({ limit: this.#most, taken, own: this.#ownOf(workspaceId) }, "half");
  }

  /** Begins a new minute if the last one is over, or was begun by a clock that was ahead. */
  beginMinute(now: number): void {
    if (this.#startedAt <= now && now < this.#startedAt + MINUTE_MS) return;
    this.#startedAt = now;
    this.#count = 0;
    this.#counts.clear();
  }
}
