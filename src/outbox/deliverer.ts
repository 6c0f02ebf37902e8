import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { Clock } from "../foundation/clock.ts";
import { deliveriesRecovered, deliveriesWaiting } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { type ClaimedDelivery, createClaims } from "./sqlite-claims.ts";
import { isSuccess } from "../webhooks/classify.ts";
import type { Outbox } from "./outbox.ts";
import {
  createFinishAttempts,
  type EndedAttempt,
  type FinishAttempts,
  type RecordedAttempt,
} from "./finish-attempts.ts";
import { alignDeliveries } from "./align-deliveries.ts";
import { AHEAD_MS, Lanes, type Sending } from "./lanes.ts";
import { logAttempt } from "./log-attempt.ts";
import { createWebhookReader } from "../webhooks/open-webhooks.ts";
import { recoverDeliveries } from "./recover-deliveries.ts";
import { renderRequest } from "../webhooks/render-request.ts";
import { watchRush } from "./rush.ts";
import type { Sender, SendResult } from "../webhooks/send.ts";
import type { DeliverySettings } from "../webhooks/webhook.ts";

/** The longest sleep while deliveries are planned: a machine that was suspended or a clock that was set heals by it. */
const LONGEST_SLEEP_MS = 30_000;
/** How long deliveries rest between two rounds while posts need the processor, and how many then go out in one. */
const RUSH_REST_MS = 100;
const RUSH_CLAIMS = 8;
/** So many attempts that ended are put on record at once where more goes out meanwhile. */
const MOST_UNRECORDED = 64;
/** How soon the database is tried again where it refused. */
const DATABASE_RETRY_MS = 250;
/** How long stopping waits for a database that refuses; recovery at the next start takes care of the rest. */
const LAST_RECORDS_MS = 2000;

export interface DelivererParts {
  readonly db: SqliteDatabase;
  /** Opens what requests are signed with, and their own headers. */
  readonly keyring: Keyring;
  readonly outbox: Outbox;
  readonly sender: Sender;
  readonly settings: DeliverySettings;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1; spreads retries. */
  readonly random: () => number;
}

/**
 * Sends what is queued. Each round is one transaction that records the attempts that ended and claims the next ones, so
 * that a busy deliverer reaches the disk once for many of them; an idle one does nothing at all.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #lanes: Lanes;
  readonly #finish: FinishAttempts;
  /** Attempts that ended and are not on record; their rows stay claimed, so nothing is sent twice for want of one. */
  readonly #ended: EndedAttempt[] = [];
  readonly #waitingForRest: (() => void)[] = [];
  readonly #hasRush: () => boolean;
  #needsReload = true;
  #isRunning = false;
  /** For good: the database may be closed from then on. */
  #hasStopped = false;
  #isPlanned = false;
  #timer: NodeJS.Timeout | null = null;
  #rushTimer: NodeJS.Timeout | null = null;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    const { db, keyring, settings, log } = parts;
    this.#lanes = new Lanes(db, createWebhookReader(db, keyring, log), createClaims(db), settings);
    this.#finish = createFinishAttempts(db, settings);
    this.#hasRush = watchRush(() => parts.outbox.queuedSoFar());
  }

  /** Before the start: recovers what an earlier process left behind. @throws database_busy as any transaction does. */
  async recover(): Promise<void> {
    const { db, settings, clock, log } = this.#parts;
    const recovered = await db.transaction(() => recoverDeliveries(settings.scheduleSeconds, clock.now()));
    if (recovered > 0) deliveriesRecovered(log, recovered);
  }

  /** Begins. Never throws: a database that refuses is tried again. */
  start(): void {
    this.#isRunning = true;
    this.#parts.outbox.onQueued(() => this.wake());
    this.wake();
  }

  /** Plans a round, unless one is planned already or there are no more. */
  wake(): void {
    if (this.#isPlanned || this.#hasStopped) return;
    this.#isPlanned = true;
    if (this.#hasRush()) this.#rushTimer = setTimeout(() => this.#round(), RUSH_REST_MS);
    // Two turns of the event loop: the second collects the answers that came while the first was at work.
    else setImmediate(() => setImmediate(() => this.#round()));
  }

  /** Webhooks or deliveries were changed by another process. */
  reload(): void {
    this.#needsReload = true;
    if (this.#isRunning) this.wake();
  }

  /** Resolves when nothing is in flight and nothing more can go out now. */
  settled(): Promise<void> {
    if (this.#hasStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waitingForRest.push(resolve);
      this.wake();
    });
  }

  /** When something is next planned, in milliseconds since 1970; null where nothing waits. */
  nextWakeAt(): number | null {
    return this.#isRunning ? this.#lanes.nextWakeAt(this.#parts.clock.now()) : null;
  }

  /**
   * Claims nothing more, waits up to `graceMs` for what is in flight, ends the rest and records all of it. From then on
   * nothing is planned any more, whatever posts that are still stored queue: the next start finds it.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isRunning = false;
    const { sender } = this.#parts;
    const grace = setTimeout(() => void sender.destroy(), graceMs);
    const giveUp = Promise.withResolvers<void>();
    const patience = setTimeout(giveUp.resolve, graceMs + LAST_RECORDS_MS);
    await Promise.race([this.settled(), giveUp.promise]);
    clearTimeout(grace);
    clearTimeout(patience);
    this.#hasStopped = true;
    this.#setTimer(null);
    if (this.#rushTimer !== null) clearTimeout(this.#rushTimer);
    await sender.destroy();
  }

  #round(): void {
    if (this.#hasStopped) return;
    this.#isPlanned = false;
    this.#setTimer(null);
    let claimed: readonly Sending[];
    try {
      claimed = this.#advance(this.#parts.clock.now());
    } catch (error) {
      this.#needsReload = true;
      deliveriesWaiting(this.#parts.log, error);
      this.#setTimer(DATABASE_RETRY_MS);
      return;
    }
    for (const sending of claimed) this.#begin(sending);
    this.#sleep();
  }

  /**
   * One transaction: what ended is recorded, what may go out is claimed; nothing is written where there is neither. It
   * does not wait for the disk: after a power cut a message may go out once more, with the same id.
   */
  #advance(now: number): readonly Sending[] {
    this.#readBacklog(now);
    const claimed: Sending[] = [];
    const isRush = this.#hasRush();
    this.#lanes.giveBack(isRush || !this.#isRunning ? "all" : "slow", now);
    if (this.#ended.length === 0 && !(this.#isRunning && this.#lanes.hasWork(now))) return claimed;
    let records: readonly (RecordedAttempt | null)[];
    try {
      records = this.#parts.db.relaxedTransactionNow(() => {
        const recorded = this.#finish(this.#ended, now);
        for (const [index, { delivery }] of this.#ended.entries())
          this.#follow(delivery, recorded[index] ?? null);
        if (this.#isRunning) this.#lanes.claim(now, isRush ? RUSH_CLAIMS : Number.POSITIVE_INFINITY, claimed);
        if (this.#isRunning && !isRush) this.#lanes.claimAhead(now);
        return recorded;
      });
    } catch (error) {
      this.#lanes.undo(claimed);
      throw error;
    }
    const finished = this.#ended.splice(0);
    for (const [index, attempt] of finished.entries()) {
      const record = records[index];
      if (record) logAttempt(this.#parts.log, attempt, record);
    }
    return claimed;
  }

  #readBacklog(now: number): void {
    const { db, outbox } = this.#parts;
    const touched = outbox.takeTouched();
    if (this.#needsReload) {
      this.#lanes.giveBack("all", now);
      outbox.forget();
      this.#needsReload = db.transactionNow(() => db.now(() => alignDeliveries(now)));
      this.#lanes.reload(now);
    } else this.#lanes.noteQueued(touched, now);
  }

  /** The lane follows what is recorded; after a rollback all of them are read anew. */
  #follow({ webhookId }: ClaimedDelivery, record: RecordedAttempt | null): void {
    const lane = this.#lanes.find(webhookId);
    if (!record || !lane) return;
    const { health, state, dueAt, webhookState } = record.after;
    if (health !== lane.webhook.health) lane.webhook = { ...lane.webhook, health };
    if (state === "pending") this.#lanes.noteRetry(webhookId, dueAt);
    if (webhookState !== record.before) this.#needsReload = true;
  }

  #begin(sending: Sending): void {
    const { sender, clock, random } = this.#parts;
    const request = renderRequest(sending.lane.open, sending.delivery, clock.now());
    const conclude = (result: SendResult): void => {
      this.#ended.push({ delivery: sending.delivery, result, random: random() });
      const wasDelivered = result.kind === "answer" && isSuccess(result.status);
      this.#lanes.release(sending, wasDelivered, result.durationMs);
      this.#goOn(sending);
    };
    void sender.send(request).then((result) => conclude(result));
  }

  /** Fills the slot that became free; without a round where the next delivery is claimed already. */
  #goOn(ended: Sending): void {
    const isRush = this.#hasRush();
    const next =
      this.#isRunning && !this.#needsReload && !isRush
        ? this.#lanes.next(ended, this.#parts.clock.now())
        : null;
    if (next) this.#begin(next);
    if (!next || next.lane.ready.length === 0 || this.#ended.length >= MOST_UNRECORDED) this.wake();
  }

  #sleep(): void {
    if (this.#needsReload) this.wake();
    if (this.#isPlanned) return;
    const next = this.nextWakeAt();
    const planned = next === null ? null : Math.max(next - this.#parts.clock.now(), 0);
    // What is claimed ahead neither waits long for its slot, nor what went out meanwhile for its record.
    const wait = this.#lanes.ahead === 0 ? planned : Math.min(planned ?? AHEAD_MS, AHEAD_MS);
    if (this.#lanes.inFlight + this.#lanes.ahead === 0 && wait !== 0) {
      for (const resolve of this.#waitingForRest.splice(0)) resolve();
    }
    this.#setTimer(wait);
  }

  /** One timer at most; null is none. */
  #setTimer(waitMs: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer =
      waitMs === null ? null : setTimeout(() => this.wake(), Math.min(Math.max(waitMs, 1), LONGEST_SLEEP_MS));
  }
}
