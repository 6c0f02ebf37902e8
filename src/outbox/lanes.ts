import type { Database } from "../database/database.ts";
import { alignDeliveries } from "./align-deliveries.ts";
import type { ClaimedDelivery } from "./claimed-delivery.ts";
import type { Claims } from "./claims.ts";
import { Lane } from "./lane.ts";
import { LaneClaims } from "./lane-claims.ts";
import { MinuteRate } from "./pace.ts";
import { type FaultChange, Places, saveFaults } from "./places.ts";
import type { Recipient } from "./recipient.ts";
import { listEnabledRecipients } from "./recipient-store.ts";
import { RoundDraft, type Sending } from "./round-draft.ts";
import { Slots } from "./slots.ts";
import type { AttemptResult, EndedAttempt, RecordedAttempt, Route, Transport } from "./transport.ts";

/** Deliveries claimed ahead go back if their recipient has not answered for this time. */
export const AHEAD_MS = 25;

/** Most deliveries of a few. */
const FEW = 8;

/** How much a round claims: `few` while posts need the processor, `all` with those that are claimed ahead. */
export type MostClaims = "none" | "few" | "all";

/** What a round has done. */
export interface Round {
  /** Of each attempt that ended; null if its delivery is no longer its own. */
  readonly records: readonly (RecordedAttempt | null)[];
  /** What must be sent now. */
  readonly sendings: readonly Sending[];
}

interface RoundWork {
  readonly ended: readonly EndedAttempt[];
  readonly most: MostClaims;
  readonly returning: readonly ClaimedDelivery[];
  readonly faults: readonly FaultChange[];
  readonly lanes: readonly Lane[];
  readonly quick: ReadonlyMap<Lane, number>;
}

/** How recipients are reached, by the kind and then the id. */
type Routes = ReadonlyMap<
  string,
  { readonly transport: Transport; readonly byId: ReadonlyMap<string, Route> }
>;

/**
 * Decides which deliveries may be sent now. Slots and deliveries claimed ahead are counted here and change only after a commit.
 * Everything else is read from the database, and read again after {@link Lanes.invalidate}.
 */
export class Lanes {
  readonly places = new Places();
  readonly #db: Database;
  readonly #claims: Claims;
  readonly #laneClaims: LaneClaims;
  readonly #transports: readonly Transport[];
  /** By carrier. */
  readonly #rates: ReadonlyMap<string, MinuteRate>;
  #lanes: ReadonlyMap<string, Lane> = new Map();
  readonly #slots = new Slots();
  /** Claimed, and will not be sent: they go back with the next transaction. */
  readonly #returning: ClaimedDelivery[] = [];
  #isStale = true;
  /** The recipient at which the next claim starts, so that every one gets its turn. */
  #turn = 0;

  constructor(db: Database, claims: Claims, transports: readonly Transport[]) {
    this.#db = db;
    this.#claims = claims;
    this.#laneClaims = new LaneClaims(claims);
    this.#transports = transports;
    this.#rates = new Map(
      transports.flatMap((transport) => {
        const { pace } = transport.policy;
        return pace === null ? [] : [[transport.carrier, new MinuteRate(pace.perMinute)]];
      }),
    );
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
    return this.#slots.isEmpty() && this.aheadCount === 0 && this.#returning.length === 0;
  }

  get aheadCount(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) count += lane.aheadCount;
    return count;
  }

  /** Moves deliveries to the state that their recipients' states require, and reads every recipient and its backlog again. */
  async reload(now: number): Promise<void> {
    this.#isStale = false;
    this.returnAhead("all", now);
    const routes = await this.#readRoutes(now);
    this.places.forgetWrongClock(now);
    for (const rate of this.#rates.values()) rate.left(now);
    const returning = [...this.#returning];
    const { lanes, draft } = await this.#db.relaxedTransaction(() => this.#read(routes, returning, now));
    this.#returning.splice(0, returning.length);
    draft.accept(now);
    this.#lanes = new Map(lanes.map((lane) => [lane.recipientId, lane]));
    if (draft.isStale) this.#isStale = true;
  }

  async #readRoutes(now: number): Promise<Routes> {
    const read = this.#transports.map(
      async (transport) => [transport.kind, { transport, byId: await transport.routes(now) }] as const,
    );
    return new Map(await Promise.all(read));
  }

  *#read(routes: Routes, returning: readonly ClaimedDelivery[], now: number) {
    yield* this.#claims.giveBack(returning);
    const draft = new RoundDraft(this.#slots);
    draft.isStale = yield* alignDeliveries(now);
    const lanes = (yield* listEnabledRecipients()).flatMap((recipient) =>
      this.#laneOf(recipient, routes, now),
    );
    yield* this.#laneClaims.readDue(draft, lanes, now);
    return { lanes, draft };
  }

  /** None if there is no way to the recipient now. */
  #laneOf(recipient: Recipient, routes: Routes, now: number): Lane[] {
    const known = routes.get(recipient.kind);
    const route = known?.byId.get(recipient.id);
    if (!known || !route) return [];
    const { transport } = known;
    const rate = this.#rates.get(transport.carrier) ?? null;
    return [new Lane(recipient, { transport, route, places: this.places, rate }, now)];
  }

  /** New deliveries were queued for these recipients. */
  noteQueued(recipientIds: Iterable<string>): void {
    for (const id of recipientIds) this.#lanes.get(id)?.noteDue(0);
  }

  /** Whether claims wait to go back. */
  get areReturning(): boolean {
    return this.#returning.length > 0;
  }

  /** Whether anything may be claimed. */
  hasWork(now: number): boolean {
    for (const lane of this.#lanes.values()) {
      if (lane.readyAt() <= now && lane.capacity(this.#slots, now) > 0) return true;
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

  /**
   * One transaction: attempts that ended are recorded, claims that will not be used go back, and deliveries are claimed. It does not
   * wait for the disk: after a power cut a message may be sent once more, with the same id.
   */
  async recordAndClaim(ended: readonly EndedAttempt[], most: MostClaims, now: number): Promise<Round> {
    const lanes = [...this.#lanes.values()];
    const returning = [...this.#returning];
    const faults = this.places.changes();
    const work = {
      ended,
      most,
      returning,
      faults,
      lanes: this.#inTurn(lanes),
      quick: takeQuick(lanes, most),
    };
    const { records, draft } = await this.#db.relaxedTransaction(() => this.#run(work, now));
    this.#returning.splice(0, returning.length);
    this.places.saved(faults);
    draft.accept(now);
    if (draft.isStale) this.#isStale = true;
    for (const { lane } of draft.sendings) this.#slots.take(lane.slotNames, 1);
    return { records, sendings: draft.sendings };
  }

  *#run(work: RoundWork, now: number) {
    const { ended, most, returning, faults, lanes, quick } = work;
    const draft = new RoundDraft(this.#slots.copy());
    if (returning.length > 0) yield* this.#claims.giveBack(returning);
    const records = yield* this.#claims.finish(ended, now);
    for (const [index, record] of records.entries()) {
      const attempt = ended[index];
      if (record && attempt) draft.note(this.#lanes.get(attempt.delivery.recipientId), attempt, record);
    }
    yield* saveFaults(faults);
    if (most !== "none")
      yield* this.#laneClaims.claim(draft, lanes, most === "few" ? FEW : Number.POSITIVE_INFINITY, now);
    if (most === "all") yield* this.#laneClaims.claimAhead(draft, lanes, quick, now);
    return { records, draft };
  }

  /** Deliveries that were claimed and will not be sent after all. */
  putBack(sendings: readonly Sending[], now: number): void {
    for (const { lane, delivery } of sendings) {
      this.#slots.take(lane.slotNames, -1);
      this.#return(lane, [delivery], now);
    }
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

  /** Has deliveries claimed ahead go back into the queue: those of all recipients, or of the ones that are no longer quick. */
  returnAhead(which: "all" | "slow", now: number): void {
    const latest = performance.now() - AHEAD_MS;
    for (const lane of this.#lanes.values()) {
      if (lane.aheadCount === 0 || (which === "slow" && lane.isQuickSince(latest))) continue;
      this.#return(lane, lane.takeAhead(lane.aheadCount), now);
    }
  }

  /** When something may next be claimed; null if nothing waits, or only for the end of an attempt, which wakes the deliverer. */
  nextWakeAt(now: number): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      const readyAt = lane.readyAt();
      if (readyAt < next && lane.capacityAfterWait(this.#slots, now) > 0) next = readyAt;
    }
    return Number.isFinite(next) ? Math.max(next, now) : null;
  }

  #return(lane: Lane, deliveries: readonly ClaimedDelivery[], now: number): void {
    this.#returning.push(...deliveries);
    lane.noteDue(now);
  }

  #inTurn(lanes: readonly Lane[]): Lane[] {
    const start = this.#turn % Math.max(1, lanes.length);
    this.#turn = start + 1;
    return [...lanes.slice(start), ...lanes.slice(0, start)];
  }
}

/** The quick answers of each lane since the last claim. */
function takeQuick(lanes: readonly Lane[], most: MostClaims): ReadonlyMap<Lane, number> {
  return new Map(most === "all" ? lanes.map((lane) => [lane, lane.takeQuick()]) : []);
}
