import { allowedInFlight, type Breaker } from "./breaker.ts";
import type { ClaimedDelivery } from "./claims.ts";
import type { Recipient } from "./recipient.ts";
import type { MinuteRate } from "./pace.ts";
import type { PlaceOfLane, Places } from "./places.ts";
import type { Slots } from "./slots.ts";
import type { Route, Transport } from "./transport.ts";

/** No recipient may ask for a longer pause than this, so a later time was written by a wrong clock. */
const LONGEST_QUIET_MS = 24 * 3_600_000;
/** A recipient that answers this fast gets deliveries claimed ahead. */
const QUICK_MS = 20;

interface LaneParts {
  readonly transport: Transport;
  readonly route: Route;
  readonly places: Places;
  /** Of the transport; null if it has no pace. */
  readonly rate: MinuteRate | null;
}

/** One enabled recipient in the deliverer's memory: its state, when it is due, and its deliveries claimed ahead. */
export class Lane {
  readonly recipientId: string;
  readonly transport: Transport;
  readonly route: Route;
  /** The names that its slots are counted under. */
  readonly slotNames: readonly [transport: string, place: string, recipient: string];
  readonly place: PlaceOfLane;
  /** The messages that all recipients of the transport may get in a minute; null if it has no pace. */
  readonly rate: MinuteRate | null;
  readonly #places: Places;
  #breaker: Breaker;
  /** When its earliest pending delivery is due; null when none is pending. */
  #dueAt: number | null = null;
  /** Claimed and not sent yet, because every slot was taken: the next free one needs no transaction. */
  readonly #ahead: ClaimedDelivery[] = [];
  /** Attempts that delivered quickly since the last claim; minus infinity after one that did not. */
  #quick = 0;
  /** When the last of them ended, by the process's own clock. */
  #quickAt = 0;

  constructor({ id, kind, breaker }: Recipient, { transport, route, places, rate }: LaneParts, now: number) {
    this.recipientId = id;
    this.transport = transport;
    this.route = route;
    const { place } = route;
    this.place = { kind, place, name: `${kind} at ${place}`, policy: transport.policy };
    this.slotNames = [kind, this.place.name, id];
    this.#places = places;
    this.rate = rate;
    const isFromWrongClock = breaker.notBeforeMs > now + LONGEST_QUIET_MS;
    this.#breaker = isFromWrongClock ? { ...breaker, notBeforeMs: 0 } : breaker;
  }

  /** With the breaker open, each attempt is a probe. */
  get isProbed(): boolean {
    return this.#breaker.state === "open";
  }

  /** When it may next get something; infinity when nothing waits. A probe does not wait until its message is due. */
  get readyAt(): number {
    if (this.#dueAt === null) return Number.POSITIVE_INFINITY;
    return this.isProbed ? this.#notBefore : Math.max(this.#dueAt, this.#notBefore);
  }

  get #notBefore(): number {
    const rateReadyAt = this.rate?.readyAt ?? 0;
    return Math.max(this.#breaker.notBeforeMs, this.#places.readyAt(this.place.name), rateReadyAt);
  }

  get aheadCount(): number {
    return this.#ahead.length;
  }

  /** How many more deliveries may be claimed ahead for it; depends on how quickly it has answered. */
  get aheadWanted(): number {
    const isWell = this.#breaker.state === "closed" && this.#breaker.count === 0;
    // What is claimed has counted, so nothing that has a pace is claimed for later.
    return isWell && this.rate === null ? 2 * this.#quick - this.#ahead.length : 0;
  }

  isQuick(): boolean {
    return this.#quick > 0;
  }

  /** Whether it has answered quickly since then, by the process's own clock, and not slowly. */
  isQuickSince(time: number): boolean {
    return this.#quick >= 0 && this.#quickAt >= time;
  }

  /** How many more attempts may begin now. */
  capacity(slots: Slots, now: number): number {
    const allowed = allowedInFlight(this.#breaker, this.transport.policy.limits.perRecipient, now);
    return Math.min(allowed - slots.taken(this.recipientId), this.sharedSlots(slots, now));
  }

  /** How many more attempts may begin when the recipient's wait is over. */
  capacityAfterWait(slots: Slots, now: number): number {
    return this.capacity(slots, Math.max(now, this.#notBefore));
  }

  /** Free slots that other recipients could take as well. */
  sharedSlots(slots: Slots, now: number): number {
    const { total } = this.transport.policy.limits;
    const [transport, place] = this.slotNames;
    const allowed = this.#places.allowed(this.place, now);
    return Math.min(total - slots.taken(transport), allowed - slots.taken(place));
  }

  /** @param dueAt when its earliest pending delivery is due, as the database has it. */
  planFrom(dueAt: number | null): void {
    this.#dueAt = dueAt;
  }

  /** A delivery goes back into the queue. */
  planRetry(dueAt: number): void {
    this.#dueAt = Math.min(dueAt, this.#dueAt ?? dueAt);
  }

  /** Follows the changes that an attempt made in the database. */
  follow(breaker: Breaker): void {
    this.#breaker = breaker;
  }

  noteEnd(wasDelivered: boolean, durationMs: number): void {
    const isQuick = wasDelivered && durationMs <= QUICK_MS;
    this.#quick = isQuick ? this.#quick + 1 : Number.NEGATIVE_INFINITY;
    if (isQuick) this.#quickAt = performance.now();
  }

  /** Counts quick answers anew. */
  resetPace(): void {
    this.#quick = 0;
  }

  putAhead(deliveries: readonly ClaimedDelivery[]): void {
    this.#ahead.push(...deliveries);
  }

  /** The deliveries claimed ahead; they stay until they are taken. */
  get ahead(): readonly ClaimedDelivery[] {
    return this.#ahead;
  }

  takeAhead(most: number): ClaimedDelivery[] {
    return this.#ahead.splice(0, Math.max(most, 0));
  }
}
