import type { Database } from "../../database/database.ts";
import type { Clock } from "../../foundation/clock.ts";
import { ClockSteps } from "./clock-steps.ts";
import { attemptRejected, deliveriesRecovered, deliveriesWaiting } from "../../foundation/delivery-events.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Log } from "../../foundation/log.ts";
import { workFor } from "../../foundation/work-for.ts";
import { failureOf } from "./attempt-defect.ts";
import { Belief } from "./belief.ts";
import type { Claims } from "./claims.ts";
import { EndedAttempts } from "./ended-attempts.ts";
import type { Lane } from "./lane.ts";
import { AHEAD_MS, Lanes } from "./lanes.ts";
import type { Outbox } from "../queue/outbox.ts";
import type { Sending } from "./round-draft.ts";
import { RoundPlan } from "./round-plan.ts";
import { watchRush } from "./rush.ts";
import type { AttemptResult, Transport } from "./transport.ts";

/** The wait until the next round after the database refused, or while it is unknown which servers live. */
const RETRY_MS = 250;
/** A claim is not used if its commit took longer than this: another server may count this one as lost by now. */
const LONGEST_CLAIM_MS = 5000;
/** A database that others hold for a shorter time is not logged: a command that changes many rows holds it again and again. */
const QUIET_BUSY_MS = 5000;
/** How long a stop waits, after its grace, for a database that refuses. The next start recovers what is left. */
const LAST_RECORDS_MS = 2000;

export interface DelivererParts {
  readonly db: Database;
  /** The claims of the database's engine. */
  readonly claims: Claims;
  readonly outbox: Outbox;
  /** One transport for each kind of recipient. */
  readonly transports: readonly Transport[];
  readonly clock: Clock;
  readonly log: Log;
  /** Returns a number from 0 up to 1; spreads retries. */
  readonly random: () => number;
}

/**
 * Sends queued deliveries. Each round is one transaction that records the finished attempts and claims the next ones, so that a
 * busy deliverer reaches the disk once for many of them. An idle one does nothing at all.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #lanes: Lanes;
  readonly #hasRush: () => boolean;
  readonly #rounds: RoundPlan;
  readonly #ended: EndedAttempts;
  readonly #belief: Belief;
  readonly #waitingForRest: (() => void)[] = [];
  #notifyOthers = (): void => undefined;
  #readingMs = 0;
  readonly #clockSteps: ClockSteps;
  /** Since when each round found that others hold the database; null if the last one did not. */
  #busySince: number | null = null;
  /** Whether another server may have queued something. */
  #mustLook = false;
  /** Rounds claim deliveries only while it is `running`. Once it is `stopped`, no round begins, and the database may be closed. */
  #state: "new" | "running" | "stopping" | "stopped" = "new";
  #ending: Promise<void> | null = null;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    this.#clockSteps = new ClockSteps(parts.clock);
    this.#ended = new EndedAttempts(parts.claims.isShared);
    this.#belief = new Belief(parts.claims.isShared);
    this.#lanes = new Lanes(parts.db, parts.claims, parts.transports);
    this.#hasRush = watchRush(() => parts.outbox.queuedSoFar());
    this.#rounds = new RoundPlan(() => this.#round(), this.#hasRush);
  }

  /** Call before the start: puts what an earlier process was sending back into the queue. @throws database_busy as any transaction does. */
  async recover(): Promise<void> {
    const { db, clock, log } = this.#parts;
    const recovered = await db.relaxedTransaction(() => this.#lanes.recover(clock.now()));
    if (recovered > 0) deliveriesRecovered(log, recovered);
  }

  /** Begins. Never throws: a database that refuses is tried again. */
  start(): void {
    this.#state = "running";
    this.#parts.outbox.onQueued(() => this.wake());
    this.wake();
  }

  /** Plans a round, unless one is planned already or the deliverer has stopped. */
  wake(): void {
    this.#rounds.soon();
  }

  /** Looks for messages that another server may have queued for a recipient of this one. */
  look(): void {
    this.#mustLook = true;
    if (this.#isRunning) this.wake();
  }

  /** Registers who notifies the other servers that something is queued for a recipient of theirs. */
  onQueuedForOthers(notify: () => void): void {
    this.#notifyOthers = notify;
  }

  /** Reads everything again, because another process changed recipients or deliveries. */
  reload(): void {
    this.#lanes.invalidate();
    if (this.#isRunning) this.wake();
  }

  /** Has the next batch of posts read who wants them. Call it after each change of recipients, before {@link reload}. */
  forgetRecipients(): void {
    this.#parts.outbox.forget();
  }

  /** How long it took to read everything the last time, in milliseconds. It grows with the number of recipients. */
  get readingMs(): number {
    return this.#readingMs;
  }

  /** Resolves when nothing is in flight and nothing more can be sent now. */
  settled(): Promise<void> {
    if (this.#state === "stopped") return Promise.resolve();
    return new Promise((resolve) => {
      this.#waitingForRest.push(resolve);
      this.wake();
    });
  }

  /** When the next delivery is planned, in milliseconds since 1970; null if none waits. */
  nextWakeAt(): number | null {
    return this.#isRunning ? this.#lanes.nextWakeAt(this.#parts.clock.now()) : null;
  }

  /**
   * Claims nothing more, waits up to `graceMs` for the attempts in flight, ends the rest, and records all of them. After that, no round
   * takes place any more; messages that are queued later are found at the next start. A second call returns the same stop.
   */
  stop(graceMs: number): Promise<void> {
    return (this.#ending ??= this.#end(graceMs));
  }

  async #end(graceMs: number): Promise<void> {
    this.#state = "stopping";
    const grace = setTimeout(() => void this.#destroyTransports(), graceMs);
    const giveUp = Promise.withResolvers<void>();
    const patience = setTimeout(giveUp.resolve, graceMs + LAST_RECORDS_MS);
    await Promise.race([this.settled(), giveUp.promise]);
    clearTimeout(grace);
    clearTimeout(patience);
    this.#state = "stopped";
    this.#rounds.close();
    await this.#destroyTransports();
  }

  get #isRunning(): boolean {
    return this.#state === "running";
  }

  /** Whether something may be sent. A server that does not know which servers live must not send: others may count it as lost. */
  get #maySend(): boolean {
    return this.#isRunning && !this.#isBlind;
  }

  get #isBlind(): boolean {
    return this.#parts.claims.servers.list().length === 0;
  }

  async #destroyTransports(): Promise<void> {
    await Promise.all(this.#parts.transports.map((transport) => transport.destroy()));
  }

  async #round(): Promise<void> {
    try {
      const now = this.#parts.clock.now();
      const stepMs = this.#clockSteps.look();
      if (stepMs > 0) this.#lanes.followClockBack(stepMs);
      await this.#readBacklog(now);
      if (this.#maySend) this.#lanes.takeAhead(now).forEach((sending) => this.#begin(sending));
      await this.#recordAndClaim(now);
    } catch (error) {
      this.#lanes.invalidate();
      this.#belief.doubt();
      if (!this.#isBusyBriefly(error)) deliveriesWaiting(this.#parts.log, error);
      this.#rounds.later(RETRY_MS);
      return;
    }
    this.#busySince = null;
    this.#sleep();
  }

  #isBusyBriefly(error: unknown): boolean {
    if (!(error instanceof FormsvcError && error.code === "database_busy")) return false;
    this.#busySince ??= performance.now();
    return performance.now() - this.#busySince < QUIET_BUSY_MS;
  }

  async #readBacklog(now: number): Promise<void> {
    const { outbox, claims } = this.#parts;
    const touched = outbox.takeTouched();
    this.#lanes.followServers(claims.servers.list());
    if (this.#belief.leftMs === 0) this.#lanes.invalidate();
    if (this.#lanes.isStale && !this.#isBlind) {
      await this.#readAgain(now);
      return;
    }
    if (this.#lanes.noteQueued(touched)) this.#notifyOthers();
    if (this.#mustLook && !this.#isBlind) await this.#lookAround();
    this.#lanes.returnAhead(this.#hasRush() || !this.#maySend ? "all" : "slow", now);
  }

  async #readAgain(now: number): Promise<void> {
    const { outbox, log } = this.#parts;
    this.#mustLook = false;
    outbox.forget();
    const begunAt = performance.now();
    const recovered = await this.#lanes.reload(now);
    this.#readingMs = performance.now() - begunAt;
    if (recovered > 0) deliveriesRecovered(log, recovered);
    this.#belief.renew();
  }

  async #lookAround(): Promise<void> {
    const { db, claims } = this.#parts;
    this.#mustLook = false;
    this.#lanes.noteQueued(await db.read(() => claims.readQueued()));
  }

  /** Writes nothing if there is nothing to record, to claim or to give back. */
  async #recordAndClaim(now: number): Promise<void> {
    const mayClaim = this.#maySend;
    const startedAt = performance.now();
    const isDue = !this.#ended.isEmpty || this.#lanes.areReturning || (mayClaim && this.#lanes.hasWork(now));
    if (!isDue) return;
    const ended = this.#ended.take();
    const extent = this.#hasRush() ? "few" : "all";
    const { records, sendings } = await this.#lanes.recordAndClaim(ended, mayClaim ? extent : "none", now);
    this.#ended.recorded(ended);
    for (const [index, record] of records.entries()) {
      const attempt = ended[index];
      if (attempt && record) attempt.transport.report(attempt, record);
    }
    // The deliverer may have been stopped meanwhile, or the whole process suspended.
    const isInTime = performance.now() - startedAt < LONGEST_CLAIM_MS;
    if (this.#maySend && isInTime) sendings.forEach((sending) => this.#begin(sending));
    else {
      this.#lanes.putBack(sendings, now);
      this.#lanes.returnAhead("all", now);
    }
  }

  #begin(sending: Sending): void {
    const { lane, delivery } = sending;
    const workspace = this.#lanes.isShared ? lane.workspaceId : null;
    void workFor(workspace, () => lane.route.send(delivery)).then(
      (result) => this.#conclude(sending, result),
      (error: unknown) => this.#concludeDefect(sending, error),
    );
  }

  #concludeDefect(sending: Sending, error: unknown): void {
    const { id: deliveryId, attempt } = sending.delivery;
    attemptRejected(this.#parts.log, { deliveryId, attempt }, error);
    this.#conclude(sending, failureOf(error));
  }

  #conclude(sending: Sending, result: AttemptResult): void {
    const { clock, random } = this.#parts;
    const { lane, delivery } = sending;
    const sentTo = lane.route.address;
    this.#ended.add({ delivery, transport: lane.transport, result, sentTo, random: random() });
    this.#lanes.release(sending, result, clock.now());
    this.#goOn(sending);
  }

  /** Fills the slot that an attempt has left. If the next delivery is already claimed, this needs no round. */
  #goOn(ended: Sending): void {
    const mayGoOn = this.#maySend && !this.#lanes.isStale && !this.#hasRush();
    const next = mayGoOn ? this.#lanes.next(ended, this.#parts.clock.now()) : null;
    if (next) this.#begin(next);
    if (!next || this.#isRunningOut(next.lane) || this.#ended.areMany) this.wake();
  }

  /** Whether more must be claimed for a lane. Over a network it claims early, so that slots do not wait for the claim. */
  #isRunningOut(lane: Lane): boolean {
    return lane.aheadCount === (this.#parts.claims.isShared ? lane.halfAhead : 0);
  }

  #sleep(): void {
    if (this.#lanes.isStale || this.#lanes.areReturning) {
      if (!this.#isBlind) this.wake();
      else if (this.#isRunning) this.#rounds.later(RETRY_MS);
    }
    if (this.#rounds.isSoon) return;
    const next = this.nextWakeAt();
    const planned = next === null ? null : Math.max(next - this.#parts.clock.now(), 0);
    // If deliveries are claimed ahead, the sleep is short: they must not wait long for a slot, nor finished attempts for their record.
    const wait = this.#lanes.aheadCount === 0 ? planned : Math.min(planned ?? AHEAD_MS, AHEAD_MS);
    if (this.#lanes.isEmpty && wait !== 0) for (const resolve of this.#waitingForRest.splice(0)) resolve();
    const restMs = Math.min(wait ?? Infinity, this.#isRunning ? this.#belief.leftMs : Infinity);
    if (restMs < Infinity) this.#rounds.later(restMs);
  }
}
