import { allowedInFlight, type Breaker } from "./breaker.ts";
import { bytesOf, type ClaimedDelivery } from "./claimed-delivery.ts";
import type { EnabledRecipient } from "../queue/recipient.ts";
import type { MinuteRate } from "./pace.ts";
import { type Destinations, type LaneDestination, LONGEST_QUIET_MS } from "./destinations.ts";
import type { Portion, SlotNames, Slots } from "./slots.ts";
import type { Route, Transport } from "./transport.ts";

/** A recipient that answers within this time gets deliveries claimed ahead. */
const QUICK_MS = 20;

interface LaneParts {
  readonly transport: Transport;
  readonly route: Route;
  readonly destinations: Destinations;
  /** The messages a minute of the kind whose pace the transport shares; null if it has no pace. */
  readonly rate: MinuteRate | null;
}

/** The part of a recipient's rows that a lane needs. */
export interface LanePlan {
  readonly breaker: Breaker;
  /** When its earliest pending delivery is due; null when none is pending. */
  readonly dueAt: number | null;
}

/** One enabled recipient in the deliverer's memory: its state, when it is due, and its deliveries claimed ahead. */
export class Lane {
  readonly recipientId: string;
  /** The workspace of the recipient's endpoint. */
  readonly workspaceId: string;
  readonly transport: Transport;
  readonly route: Route;
  /** The names that its slots are counted under. */
  readonly slotNames: readonly string[];
  readonly kindSlots: SlotNames;
  readonly #destinationSlots: SlotNames;
  readonly destination: LaneDestination;
  /** The messages a minute for all recipients of the kind; null if the kind has no pace. */
  readonly rate: MinuteRate | null;
  readonly #destinations: Destinations;
  #plan: LanePlan;
  /** Deliveries that were claimed while every slot was taken. The next free slot can send one without a transaction. */
  readonly #ahead: ClaimedDelivery[] = [];
  #halfAhead = 0;
  /** The number of attempts that delivered quickly since the last claim. */
  #quickAnswers = 0;
  /** Whether an attempt since the last claim failed or was slow. */
  #wasSlow = false;
  /** When the last quick attempt ended, in milliseconds of the process's own clock. */
  #quickAt = 0;

  constructor(
    { id, workspaceId, breaker }: EnabledRecipient,
    { transport, route, destinations, rate }: LaneParts,
    now: number,
  ) {
    this.recipientId = id;
    this.workspaceId = workspaceId;
    this.transport = transport;
    this.route = route;
    const { destination } = route;
    const { sharedKind, policy } = transport;
    this.destination = { kind: sharedKind, destination, name: `${sharedKind} at ${destination}`, policy };
    this.kindSlots = slotsOf(sharedKind, workspaceId);
    this.#destinationSlots = slotsOf(this.destination.name, workspaceId);
    this.slotNames = [id, ...Object.values(this.kindSlots), ...Object.values(this.#destinationSlots)];
    this.#destinations = destinations;
    this.rate = rate;
    const isFromWrongClock = breaker.notBeforeMs > now + LONGEST_QUIET_MS;
    this.#plan = { breaker: isFromWrongClock ? { ...breaker, notBeforeMs: 0 } : breaker, dueAt: null };
  }

  get plan(): LanePlan {
    return this.#plan;
  }

  /** Takes over what a committed transaction learned of the rows. */
  follow(plan: LanePlan): void {
    this.#plan = plan;
  }

  /**
   * When the next attempt may begin, in milliseconds since 1970; infinity if nothing waits. A probe does not wait until its message is due.
   */
  readyAt(plan = this.#plan): number {
    const { dueAt } = plan;
    if (dueAt === null) return Number.POSITIVE_INFINITY;
    const notBefore = this.#notBefore(plan);
    return isProbed(plan) ? notBefore : Math.max(dueAt, notBefore);
  }

  #notBefore({ breaker }: LanePlan): number {
    return Math.max(
      breaker.notBeforeMs,
      this.#destinations.readyAt(this.destination.name),
      this.rate?.readyAt(this.workspaceId) ?? 0,
    );
  }

  get aheadCount(): number {
    return this.#ahead.length;
  }

  /** UTF-8 bytes of the bodies of the deliveries claimed ahead. */
  get aheadBytes(): number {
    return this.#ahead.reduce((bytes, { body }) => bytes + bytesOf(body), 0);
  }

  /** Half of the deliveries that were claimed ahead right after the last claim. */
  get halfAhead(): number {
    return this.#halfAhead;
  }

  /** The number of deliveries that may still be claimed ahead. @param wanted the total, by the quick answers since the last claim. */
  aheadWanted({ breaker }: LanePlan, wanted: number): number {
    const isWell = breaker.state === "closed" && breaker.count === 0;
    // A claimed message counts against the pace, so nothing that has a pace is claimed ahead.
    return isWell && this.rate === null ? wanted - this.#ahead.length : 0;
  }

  isQuick(): boolean {
    return !this.#wasSlow && this.#quickAnswers > 0;
  }

  /** Whether a quick answer came at this time of the process's own clock or later, and no slow one since the last claim. */
  isQuickSince(time: number): boolean {
    return !this.#wasSlow && this.#quickAt >= time;
  }

  /** How many more attempts may begin now. */
  capacity(slots: Slots, portion: Portion, now: number, { breaker } = this.#plan): number {
    const allowed = allowedInFlight(breaker, this.transport.policy.limits.perRecipient, now);
    return Math.min(allowed - slots.taken(this.recipientId), this.sharedSlots(slots, portion, now));
  }

  /** How many more attempts may begin once the recipient's wait is over. */
  capacityAfterWait(slots: Slots, now: number): number {
    return this.capacity(slots, "most", Math.max(now, this.#notBefore(this.#plan)));
  }

  /** The free slots that other recipients of the same workspace could take as well. */
  sharedSlots(slots: Slots, portion: Portion, now: number): number {
    const { total } = this.transport.policy.limits;
    const allowed = this.#destinations.allowed(this.destination, now);
    return Math.min(
      slots.room(this.kindSlots, total, portion),
      slots.room(this.#destinationSlots, allowed, portion),
    );
  }

  /** Notes a waiting delivery that is due at this time. */
  noteDue(dueAt: number): void {
    this.#plan = dueBy(this.#plan, dueAt);
  }

  noteEnd(wasDelivered: boolean, durationMs: number): void {
    if (!wasDelivered || durationMs > QUICK_MS) {
      this.#wasSlow = true;
      return;
    }
    this.#quickAnswers += 1;
    this.#quickAt = performance.now();
  }

  /** Returns the number of quick answers since the last claim, 0 if one answer was slow, and begins to count anew. */
  takeQuick(): number {
    const quick = this.#wasSlow ? 0 : this.#quickAnswers;
    this.#quickAnswers = 0;
    this.#wasSlow = false;
    return quick;
  }

  putAhead(deliveries: readonly ClaimedDelivery[]): void {
    this.#ahead.push(...deliveries);
    this.#halfAhead = this.#ahead.length >> 1;
  }

  takeAhead(most: number): ClaimedDelivery[] {
    return this.#ahead.splice(0, Math.max(most, 0));
  }
}

function slotsOf(name: string, workspaceId: string): SlotNames {
  return { all: name, own: `${name} of ${workspaceId}` };
}

/** Whether each attempt is a probe, because the breaker is open. */
export function isProbed({ breaker }: LanePlan): boolean {
  return breaker.state === "open";
}

/** The plan with one more waiting delivery, which is due at `dueAt`. */
export function dueBy(plan: LanePlan, dueAt: number): LanePlan {
  return { ...plan, dueAt: Math.min(dueAt, plan.dueAt ?? dueAt) };
}
