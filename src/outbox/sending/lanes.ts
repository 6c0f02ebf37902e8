import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import type { Claim, ClaimedDelivery } from "./claimed-delivery.ts";
import type { Claims } from "./claims.ts";
import { OwnClaims } from "./own-claims.ts";
import { keepUnconfirmedBack } from "./keep-unconfirmed-back.ts";
import type { Lane } from "./lane.ts";
import { LaneClaims } from "./lane-claims.ts";
import { MinuteRate } from "./pace.ts";
import { bringPlansForward } from "./clock-steps.ts";
import { type FaultChange, Destinations, saveFaults } from "./destinations.ts";
import { type LaneFacts, LaneReader } from "./read-lanes.ts";
import { RoundDraft, type Sending } from "./round-draft.ts";
import { Slots } from "./slots.ts";
import type { AttemptResult, EndedAttempt, RecordedAttempt, Transport } from "./transport.ts";
import { WorkspaceOrder } from "./workspace-order.ts";

/** Deliveries claimed ahead are given back if their recipient has not answered for this time. */
export const AHEAD_MS = 25;

/** The largest number of deliveries that `few` claims. */
const FEW = 8;

/** How much a round claims. `few`: while posts need the processor. `all`: deliveries that are claimed ahead too. */
export type ClaimExtent = "none" | "few" | "all";

/** The result of a round. */
export interface Round {
  /** For each recorded attempt; null if its delivery is no longer its own. */
  readonly records: readonly (RecordedAttempt | null)[];
  /** Deliveries that must be sent now. */
  readonly sendings: readonly Sending[];
}

interface RoundWork {
  readonly ended: readonly EndedAttempt[];
  readonly extent: ClaimExtent;
  readonly returning: readonly Claim[];
  readonly faults: readonly FaultChange[];
  readonly lanes: readonly Lane[];
  readonly quick: ReadonlyMap<Lane, number>;
}

/**
 * Decides which deliveries may be sent now. Slots and deliveries claimed ahead are counted here and change only after a commit.
 * Everything else is read from the database, and read again after {@link Lanes.invalidate}.
 */
export class Lanes {
  readonly destinations = new Destinations();
  readonly #db: Database;
  readonly #claims: Claims;
  readonly #laneClaims: LaneClaims;
  readonly #reader: LaneReader;
  /** By the kind whose pace the transports share. */
  readonly #rates: ReadonlyMap<string, MinuteRate>;
  #lanes: ReadonlyMap<string, Lane> = new Map();
  readonly #slots = new Slots();
  /** The order in which workspaces get slots. */
  readonly #workspaceOrder = new WorkspaceOrder();
  readonly #ownClaims: OwnClaims;
  /** The servers among which the recipients were last shared out. */
  #servers: readonly string[] = [];
  #isStale = true;
  /** By how much the clock was set back since plans were last brought forward. */
  #clockBackMs = 0;
  /** The index of the lane at which the next claim starts, so that no recipient of a workspace is always left out. */
  #next = 0;

  constructor(db: Database, claims: Claims, transports: readonly Transport[]) {
    this.#db = db;
    this.#claims = claims;
    this.#laneClaims = new LaneClaims(claims, this.#workspaceOrder);
    this.#ownClaims = new OwnClaims(claims.isShared);
    this.#rates = new Map(
      transports.flatMap((transport) => {
        const { pace } = transport.policy;
        return pace === null ? [] : [[transport.sharedKind, new MinuteRate(pace.perMinute)]];
      }),
    );
    const { destinations } = this;
    const parts = { claims, laneClaims: this.#laneClaims, transports, destinations, rates: this.#rates };
    this.#reader = new LaneReader(parts);
  }

  /** Whether {@link Lanes.reload} must come before anything is claimed. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** Whether several workspaces have recipients here. */
  get isShared(): boolean {
    return this.#slots.isShared;
  }

  /** Compares the live servers. If servers came or went, everything is read again, because recipients may have other owners. */
  followServers(servers: readonly string[]): void {
    const isSame =
      servers.length === this.#servers.length && servers.every((id, at) => id === this.#servers[at]);
    if (!isSame) this.#isStale = true;
  }

  /** Call at the start: puts what an earlier process was sending back into the queue. Returns the number. Call inside a transaction. */
  recover(now: number): Steps<number> {
    return this.#reader.recover(now);
  }

  /** Has everything read again, because somebody else changed recipients or deliveries, or a transaction was rolled back. */
  invalidate(): void {
    this.#isStale = true;
  }

  /** Has plans brought forward, because the clock was set back by this much, and everything read again. */
  followClockBack(stepMs: number): void {
    this.#clockBackMs += stepMs;
    this.#isStale = true;
  }

  /** Whether nothing is under way or claimed. */
  get isEmpty(): boolean {
    return this.#slots.isEmpty() && this.aheadCount === 0 && !this.#ownClaims.areReturning;
  }

  get aheadCount(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) count += lane.aheadCount;
    return count;
  }

  /**
   * Brings deliveries in step with the states of their recipients, and reads every recipient and its backlog again. Returns the number of
   * deliveries of lost servers that were put back into the queue.
   */
  async reload(now: number): Promise<number> {
    this.#isStale = false;
    this.#servers = this.#claims.servers.list();
    this.returnAhead("all", now);
    const routes = await this.#reader.readRoutes(now);
    this.destinations.forgetWrongClock(now);
    const { returning } = this.#ownClaims;
    const facts = { routes, servers: this.#servers, returning, ownIds: this.#ownClaims.ids() };
    const clockBackMs = this.#clockBackMs;
    const { lanes, draft, recovered, isShared, faults } = await this.#db.relaxedTransaction(() =>
      this.#read(facts, clockBackMs, now),
    );
    this.#clockBackMs -= clockBackMs;
    this.destinations.bringForward(clockBackMs, now);
    this.#ownClaims.forgetReturned(returning);
    this.destinations.followRows(faults);
    draft.accept();
    this.#lanes = new Map(lanes.map((lane) => [lane.recipientId, lane]));
    this.#shareOut(lanes, isShared, now);
    if (draft.isStale) this.#isStale = true;
    return recovered;
  }

  /** Shares out slots and messages a minute among workspaces and servers. */
  #shareOut(lanes: readonly Lane[], isShared: boolean, now: number): void {
    this.#slots.isShared = isShared;
    this.#workspaceOrder.keep(workspacesOf(lanes));
    for (const [sharedKind, rate] of this.#rates) {
      const those = lanes.filter(({ transport }) => transport.sharedKind === sharedKind);
      rate.shareAmong(this.#servers.length, workspacesOf(those).size);
      rate.beginMinute(now);
    }
  }

  *#read(facts: LaneFacts, clockBackMs: number, now: number) {
    const draft = new RoundDraft(this.#slots);
    if (clockBackMs > 0) yield* bringPlansForward([...this.#lanes.keys()], clockBackMs, now);
    return { draft, ...(yield* this.#reader.read(draft, facts, now)) };
  }

  /** Notes that deliveries were queued for these recipients. Returns whether another server may have to know. */
  noteQueued(recipientIds: Iterable<string>): boolean {
    let isOthers = false;
    for (const id of recipientIds) {
      const lane = this.#lanes.get(id);
      if (lane === undefined) isOthers = this.#servers.length > 1;
      else lane.noteDue(0);
    }
    return isOthers;
  }

  /** Whether some claims wait to be given back. */
  get areReturning(): boolean {
    return this.#ownClaims.areReturning;
  }

  /** Whether anything may be claimed. */
  hasWork(now: number): boolean {
    for (const lane of this.#lanes.values()) {
      if (lane.readyAt() <= now && lane.capacity(this.#slots, "most", now) > 0) return true;
    }
    return false;
  }

  /** Takes the deliveries that were claimed ahead and may be sent now. */
  takeAhead(now: number): Sending[] {
    const taken: Sending[] = [];
    for (const lane of this.#lanes.values()) {
      if (lane.aheadCount === 0) continue;
      for (const delivery of lane.takeAhead(lane.capacity(this.#slots, "half", now))) {
        this.#take(lane);
        taken.push({ lane, delivery });
      }
    }
    return taken;
  }

  /**
   * One transaction: records the attempts that ended, gives back claims that will not be used, and claims deliveries. It does not wait for
   * the disk: after a power cut a message may be sent once more, with the same id.
   */
  async recordAndClaim(ended: readonly EndedAttempt[], extent: ClaimExtent, now: number): Promise<Round> {
    const lanes = [...this.#lanes.values()];
    const { returning } = this.#ownClaims;
    const faults = this.destinations.changes();
    const work = {
      ended,
      extent,
      returning,
      faults,
      lanes: this.#inTurn(lanes),
      quick: takeQuick(lanes, extent),
    };
    const { records, draft } = await this.#db.relaxedTransaction(() => this.#run(work, now));
    this.#ownClaims.forgetReturned(returning);
    for (const { delivery } of ended) this.#ownClaims.recorded(delivery);
    this.destinations.saved(faults);
    const heldUp = await keepUnconfirmedBack(this.#db, this.#claims, draft, now);
    draft.accept();
    for (const { lane, until } of heldUp) lane.noteDue(until);
    this.#ownClaims.add(draft);
    if (draft.isStale) this.#isStale = true;
    for (const { lane } of draft.sendings) this.#take(lane);
    return { records, sendings: draft.sendings };
  }

  *#run(work: RoundWork, now: number) {
    const { ended, extent, returning, faults, lanes, quick } = work;
    const draft = new RoundDraft(this.#slots.copy());
    if (returning.length > 0) yield* this.#claims.giveBack(returning);
    const records = yield* this.#claims.finish(ended, now);
    for (const [index, record] of records.entries()) {
      const attempt = ended[index];
      if (record && attempt) draft.note(this.#lanes.get(attempt.delivery.recipientId), attempt, record);
    }
    yield* saveFaults(faults);
    if (extent !== "none")
      yield* this.#laneClaims.claim(draft, lanes, extent === "few" ? FEW : Number.POSITIVE_INFINITY, now);
    if (extent === "all") yield* this.#laneClaims.claimAhead(draft, lanes, quick, now);
    return { records, draft };
  }

  /** Gives back deliveries that were claimed and will not be sent after all. */
  putBack(sendings: readonly Sending[], now: number): void {
    for (const { lane, delivery } of sendings) {
      this.#slots.take(lane.slotNames, -1);
      this.#return(lane, [delivery], now);
    }
  }

  /** Frees the slot of an attempt that has ended. */
  release({ lane, delivery }: Sending, result: AttemptResult, now: number): void {
    this.#slots.take(lane.slotNames, -1);
    this.destinations.note(lane.destination, { result, claimedAt: delivery.claimedAt }, now);
    this.#lanes.get(lane.recipientId)?.noteEnd(result.blame === "nobody", result.durationMs);
  }

  /** Takes a delivery that was claimed ahead for the slot that an attempt has left; null if a claim is needed. */
  next({ lane: { recipientId } }: Sending, now: number): Sending | null {
    const lane = this.#lanes.get(recipientId);
    // Only a round may go beyond half of the slots, because it knows whether other workspaces wait.
    if (!lane?.isQuick() || lane.capacity(this.#slots, "half", now) <= 0) return null;
    const [delivery] = lane.takeAhead(1);
    if (!delivery) return null;
    this.#take(lane);
    return { lane, delivery };
  }

  /** Gives back deliveries claimed ahead: those of all recipients, or only those of recipients that are no longer quick. */
  returnAhead(which: "all" | "slow", now: number): void {
    const latest = performance.now() - AHEAD_MS;
    for (const lane of this.#lanes.values()) {
      if (lane.aheadCount === 0 || (which === "slow" && lane.isQuickSince(latest))) continue;
      this.#return(lane, lane.takeAhead(lane.aheadCount), now);
    }
  }

  /**
   * When something may next be claimed, in milliseconds since 1970; null if nothing waits, or only the end of an attempt is awaited, which
   * wakes the deliverer.
   */
  nextWakeAt(now: number): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      const readyAt = lane.readyAt();
      if (readyAt < next && lane.capacityAfterWait(this.#slots, now) > 0) next = readyAt;
    }
    return Number.isFinite(next) ? Math.max(next, now) : null;
  }

  #take({ slotNames, workspaceId }: Lane): void {
    this.#slots.take(slotNames, 1);
    this.#workspaceOrder.note(workspaceId);
  }

  #return(lane: Lane, deliveries: readonly ClaimedDelivery[], now: number): void {
    this.#ownClaims.return(deliveries);
    lane.noteDue(now);
  }

  #inTurn(lanes: readonly Lane[]): Lane[] {
    const start = this.#next % Math.max(1, lanes.length);
    this.#next = start + 1;
    return [...lanes.slice(start), ...lanes.slice(0, start)];
  }
}

function workspacesOf(lanes: readonly Lane[]): ReadonlySet<string> {
  return new Set(lanes.map(({ workspaceId }) => workspaceId));
}

/** The number of quick answers of each lane since the last claim; empty unless `extent` is `all`. */
function takeQuick(lanes: readonly Lane[], extent: ClaimExtent): ReadonlyMap<Lane, number> {
  return new Map(extent === "all" ? lanes.map((lane) => [lane, lane.takeQuick()]) : []);
}
