import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { alignDeliveries } from "./align-deliveries.ts";
import type { ClaimedDelivery, Claims } from "./claims.ts";
import type { EndedAttempt, RecordedAttempt } from "./transport.ts";
import { Lane } from "./lane.ts";
import { MinuteRate } from "./pace.ts";
import { createPacedClaim, type PacedClaim } from "./paced-claims.ts";
import { Places } from "./places.ts";
import { listEnabledRecipients } from "./recipient-store.ts";
import { Slots } from "./slots.ts";
import type { AttemptResult, Transport } from "./transport.ts";

/** A claimed delivery and its lane, which holds a slot until it is released. */
export interface Sending {
  readonly lane: Lane;
  readonly delivery: ClaimedDelivery;
}

/** The claims of one transaction. Call {@link Lanes.accept} with them after the commit; after a rollback forget them. */
export interface Claimed {
  readonly sendings: readonly Sending[];
  readonly ahead: readonly (readonly [Lane, ClaimedDelivery[]])[];
  /** With those of `sendings` taken. */
  readonly slots: Slots;
}

/** A delivery planned further ahead than the schedule allows was planned by a wrong clock. */
const FURTHEST_PLAN_MS = 36 * 3_600_000;
/** Deliveries claimed ahead go back if their recipient has not answered for this time. */
export const AHEAD_MS = 25;
/** Most deliveries claimed ahead for one recipient, and for all. */
const MOST_AHEAD = 64;
const MOST_AHEAD_IN_ALL = 256;

/**
 * Decides which deliveries may be sent now. Slots and deliveries claimed ahead are counted here and change only after a commit.
 * Everything else is read from the database, and read again after {@link Lanes.invalidate}.
 */
export class Lanes {
  readonly #db: SqliteDatabase;
  readonly #claims: Claims;
  readonly #transports: readonly Transport[];
  readonly places: Places;
  readonly #rates: ReadonlyMap<Transport, MinuteRate>;
  readonly #claimPaced: PacedClaim;
  #lanes: ReadonlyMap<string, Lane> = new Map();
  #slots = new Slots();
  #isStale = true;
  /** The recipient at which the next claim starts, so that every one gets its turn. */
  #turn = 0;

  constructor(db: SqliteDatabase, claims: Claims, transports: readonly Transport[]) {
    this.#db = db;
    this.#claims = claims;
    this.#transports = transports;
    this.places = new Places(db);
    this.#rates = new Map(
      transports.flatMap((transport) => {
        const { pace } = transport.policy;
        return pace === null ? [] : [[transport, new MinuteRate(pace.perMinute)]];
      }),
    );
    this.#claimPaced = createPacedClaim(db);
  }

  /** Whether {@link Lanes.reload} must come before anything is claimed. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** Recipients or deliveries were changed by somebody else, or a transaction was rolled back. */
  invalidate(): void {
    this.#isStale = true;
  }

  /** Nothing is under way or claimed. */
  get isEmpty(): boolean {
    return this.#slots.isEmpty() && this.aheadCount === 0;
  }

  get aheadCount(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) count += lane.aheadCount;
    return count;
  }

  /** Moves deliveries to the state that their recipients' states require, and reads every recipient and its backlog again. */
  reload(now: number): void {
    this.giveBack("all", now);
    this.#isStale = this.#db.transactionNow(() => this.#db.now(() => alignDeliveries(now)));
    const routes = new Map(
      this.#transports.map((transport) => [transport.kind, { transport, byId: transport.routes(now) }]),
    );
    this.places.forgetWrongClock(now);
    for (const rate of this.#rates.values()) rate.left(now);
    const lanes = new Map<string, Lane>();
    for (const recipient of this.#db.now(listEnabledRecipients)) {
      const known = routes.get(recipient.kind);
      const route = known?.byId.get(recipient.id);
      if (!known || !route) continue;
      const { transport } = known;
      const rate = this.#rates.get(transport) ?? null;
      const lane = new Lane(recipient, { transport, route, places: this.places, rate }, now);
      lane.planFrom(this.#earliestDue(lane, now));
      lanes.set(recipient.id, lane);
    }
    this.#lanes = lanes;
  }

  /** New deliveries were queued for these recipients. */
  noteQueued(recipientIds: Iterable<string>, now: number): void {
    for (const id of recipientIds) {
      const lane = this.#lanes.get(id);
      lane?.planFrom(this.#earliestDue(lane, now));
    }
  }

  /** Follows the recorded result of an attempt. Inside its transaction: call {@link Lanes.invalidate} after a rollback. */
  follow({ delivery }: EndedAttempt, { before, after }: RecordedAttempt): void {
    const lane = this.#lanes.get(delivery.recipientId);
    lane?.follow(after.breaker);
    if (after.state === "pending") lane?.planRetry(after.dueAt ?? delivery.claimedAt);
    if (after.recipientState !== before) this.#isStale = true;
  }

  /** Whether anything may be claimed. */
  hasWork(now: number): boolean {
    for (const lane of this.#lanes.values()) {
      if (lane.readyAt <= now && lane.capacity(this.#slots, now) > 0) return true;
    }
    return false;
  }

  /** Deliveries that are claimed already and may be sent now. */
  takeAhead(now: number): Sending[] {
    const taken: Sending[] = [];
    for (const lane of this.#lanes.values()) {
      if (lane.aheadCount === 0) continue;
      for (const delivery of lane.takeAhead(lane.capacity(this.#slots, now))) {
        this.#slots.take(lane.slotNames, 1);
        taken.push({ lane, delivery });
      }
    }
    return taken;
  }

  /** Claims up to `most` deliveries that may be sent now, each time beginning with another recipient. Inside a transaction. */
  claim(now: number, most: number): Claimed {
    const slots = this.#slots.copy();
    const sendings: Sending[] = [];
    for (const lane of this.#inTurn()) {
      if (lane.readyAt > now) continue;
      const limit = Math.min(lane.capacity(slots, now), most - sendings.length);
      if (limit <= 0) continue;
      const deliveries = this.#claimFrom(lane, limit, now);
      slots.take(lane.slotNames, deliveries.length);
      for (const delivery of deliveries) sendings.push({ lane, delivery });
    }
    return { sendings, ahead: [], slots };
  }

  /**
   * As {@link Lanes.claim}, and claims more for recipients that answer so fast that a transaction for each delivery would cost too
   * much. Inside a transaction.
   */
  claimWithAhead(now: number): Claimed {
    const { sendings, slots } = this.claim(now, Number.POSITIVE_INFINITY);
    const ahead: [Lane, ClaimedDelivery[]][] = [];
    const due = [...this.#lanes.values()].filter((lane) => lane.readyAt <= now);
    let free = MOST_AHEAD_IN_ALL - this.aheadCount;
    for (const lane of due) {
      // If others wait for the same slots, each slot goes to the next in turn.
      const isAlone = due.length === 1 || lane.sharedSlots(slots, now) > 0;
      const limit = isAlone ? Math.min(lane.aheadWanted, MOST_AHEAD - lane.aheadCount, free) : 0;
      if (limit <= 0) continue;
      const deliveries = this.#claims.claimDue(lane.recipientId, limit, now);
      free -= deliveries.length;
      ahead.push([lane, deliveries]);
      if (deliveries.length < limit) lane.planFrom(this.#earliestDue(lane, now));
    }
    for (const lane of this.#lanes.values()) lane.resetPace();
    return { sendings, ahead, slots };
  }

  /** The transaction has committed. */
  accept({ sendings, ahead, slots }: Claimed): readonly Sending[] {
    this.#slots = slots;
    for (const [lane, deliveries] of ahead) lane.putAhead(deliveries);
    return sendings;
  }

  /** An attempt has ended: its slot is free. */
  release({ lane, delivery }: Sending, result: AttemptResult, now: number): void {
    this.#slots.take(lane.slotNames, -1);
    this.places.note(lane.place, { result, claimedAt: delivery.claimedAt }, now);
    this.#lanes.get(lane.recipientId)?.noteEnd(result.blame === "nobody", result.durationMs);
  }

  /** Another delivery that is claimed already, for the slot that this one leaves; null if a claim is needed. */
  next({ lane: { recipientId } }: Sending, now: number): Sending | null {
    const lane = this.#lanes.get(recipientId);
    if (!lane?.isQuick() || lane.capacity(this.#slots, now) <= 0) return null;
    const [delivery] = lane.takeAhead(1);
    if (!delivery) return null;
    this.#slots.take(lane.slotNames, 1);
    return { lane, delivery };
  }

  /**
   * Puts deliveries claimed ahead back into the queue, in a transaction of its own: those of all recipients, or of the ones that
   * are no longer quick.
   */
  giveBack(which: "all" | "slow", now: number): void {
    const latest = performance.now() - AHEAD_MS;
    const lanes = [...this.#lanes.values()].filter(
      (lane) => lane.aheadCount > 0 && (which === "all" || !lane.isQuickSince(latest)),
    );
    if (lanes.length === 0) return;
    this.#db.relaxedTransactionNow(() => {
      for (const lane of lanes) this.#claims.giveBack(lane.ahead);
    });
    for (const lane of lanes) {
      lane.takeAhead(lane.aheadCount);
      lane.planFrom(this.#earliestDue(lane, now));
    }
  }

  /** When something may next be claimed; null if nothing waits, or only for the end of an attempt, which wakes the deliverer. */
  nextWakeAt(now: number): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      if (lane.readyAt < next && lane.capacityAfterWait(this.#slots, now) > 0) next = lane.readyAt;
    }
    return Number.isFinite(next) ? Math.max(next, now) : null;
  }

  #inTurn(): Lane[] {
    const lanes = [...this.#lanes.values()];
    const start = this.#turn % Math.max(1, lanes.length);
    this.#turn = start + 1;
    return [...lanes.slice(start), ...lanes.slice(0, start)];
  }

  #claimFrom(lane: Lane, limit: number, now: number): ClaimedDelivery[] {
    const taken = this.#take(lane, limit, now);
    // If the maximum was taken, more is probably due; the next claim will show.
    if (lane.isProbed || taken.length < limit) lane.planFrom(this.#earliestDue(lane, now));
    return taken;
  }

  #take(lane: Lane, limit: number, now: number): ClaimedDelivery[] {
    const { recipientId, rate, route, transport } = lane;
    const { pace } = transport.policy;
    if (rate !== null && pace !== null) {
      const { gatherSeconds } = route;
      const most = Math.min(limit, rate.left(now));
      const taken = most > 0 ? this.#claimPaced({ recipientId, pace, gatherSeconds }, most, now) : [];
      rate.note(taken.filter(({ attempt }) => attempt === 1).length, now);
      return taken;
    }
    return lane.isProbed
      ? this.#claims.claimProbe(recipientId, now)
      : this.#claims.claimDue(recipientId, limit, now);
  }

  #earliestDue({ recipientId }: Lane, now: number): number | null {
    const due = this.#claims.earliestDue(recipientId);
    const furthest = now + FURTHEST_PLAN_MS;
    if (due === null || due <= furthest) return due;
    this.#claims.pullForward(recipientId, furthest);
    return furthest;
  }
}
