import type { Database } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import { version } from "../foundation/version.ts";
import { type ClaimedDelivery, createClaims } from "./claim-delivery.ts";
import type { Outbox } from "./enqueue-delivery.ts";
import { createFinishAttempt, type EndedAttempt, type RecordedAttempt } from "./finish-attempt.ts";
import { alignDeliveries } from "./hold-deliveries.ts";
import { Lanes, type Sending } from "./lanes.ts";
import { recoverDeliveries } from "./recover-deliveries.ts";
import type { Sender, SendRequest } from "./send.ts";
import { signMessage } from "./sign.ts";
import type { DeliverySettings } from "./webhook.ts";
import type { SigningKey } from "./webhook-store.ts";

/** The longest sleep while deliveries are planned: a machine that was suspended or a clock that was set heals by it. */
const LONGEST_SLEEP_MS = 30_000;
/** How soon the database is tried again where it refused. */
const DATABASE_RETRY_MS = 250;
/** How often the database is tried again for the last results when stopping; recovery at start takes care of the rest. */
const STOP_ROUNDS = 8;

export interface Deliverer {
  /** Recovers what an earlier process left behind and begins. */
  start(): void;
  /** Looks at the clock and the queue now. */
  wake(): void;
  /** Webhooks or deliveries were changed by another process. */
  reload(): void;
  /** Resolves when nothing is in flight and nothing more can go out now. */
  settled(): Promise<void>;
  /** When the deliverer will next act by itself, in milliseconds since 1970; null where nothing waits. */
  nextWakeAt(): number | null;
  /** Claims nothing more, waits up to `graceMs` for what is in flight, ends the rest and records all of it. */
  stop(graceMs: number): Promise<void>;
}

export interface DelivererParts {
  readonly db: Database;
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
export function createDeliverer(parts: DelivererParts): Deliverer {
  const { db, outbox, sender, settings, clock, log } = parts;
  const lanes = new Lanes(db, createClaims(db), settings);
  const finish = createFinishAttempt(db, settings);
  const ended: EndedAttempt[] = [];
  const waitingForRest: (() => void)[] = [];
  let needsReload = true;
  let isRunning = false;
  let isPlanned = false;
  let timer: NodeJS.Timeout | null = null;

  const plan = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(round);
  };

  const round = (): void => {
    isPlanned = false;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    let claimed: Sending[];
    try {
      claimed = advance();
    } catch (error) {
      // Results stay in memory and their rows stay claimed, so nothing is sent twice for want of a record.
      needsReload = true;
      log.warn({ event: "webhook.database", err: error }, "deliveries wait for the database");
      timer = setTimeout(plan, DATABASE_RETRY_MS);
      return;
    }
    for (const sending of claimed) begin(sending);
    sleep();
  };

  /** One transaction: what ended is recorded, what may go out is claimed. Nothing is written where there is neither. */
  const advance = (): Sending[] => {
    const now = clock.now();
    readBacklog(now);
    const claimed: Sending[] = [];
    if (ended.length === 0 && !(isRunning && lanes.hasWork(now))) return claimed;
    let records: (RecordedAttempt | null)[];
    try {
      records = db.transaction(() => {
        const recorded = ended.map((attempt) => finish(attempt, now));
        recorded.forEach((record, index) => followLane(ended[index]?.delivery, record));
        lanes.noteQueued(new Set(ended.map(({ delivery }) => delivery.webhookId)), now);
        if (isRunning) lanes.claim(now, claimed);
        return recorded;
      });
    } catch (error) {
      for (const sending of claimed) lanes.release(sending);
      throw error;
    }
    const finished = ended.splice(0);
    finished.forEach((attempt, index) => tell(attempt, records[index] ?? null));
    return claimed;
  };

  const readBacklog = (now: number): void => {
    const touched = outbox.takeTouched();
    if (!needsReload) return lanes.noteQueued(touched, now);
    needsReload = alignDeliveries(db, now);
    lanes.reload(now);
  };

  /** The lane follows what was recorded; after a rollback it is read anew. */
  const followLane = (delivery: ClaimedDelivery | undefined, record: RecordedAttempt | null): void => {
    const lane = lanes.find(delivery?.webhookId ?? "");
    if (!lane || !record) return;
    lane.webhook = { ...lane.webhook, health: record.after.health, failingSince: record.after.failingSince };
    if (record.after.webhookState !== record.before) needsReload = true;
  };

  const begin = (sending: Sending): void => {
    const { delivery } = sending;
    void sender.send(requestFor(sending)).then((result) => {
      lanes.release(sending);
      ended.push({ delivery, result, random: parts.random() });
      plan();
    });
  };

  const requestFor = ({ lane, delivery: { id, body } }: Sending): SendRequest => {
    const { headers, url, allowPrivate } = lane.webhook.settings;
    const now = clock.now();
    const timestamp = String(Math.floor(now / 1000));
    const signature = signMessage({ id, timestamp, body }, keysAt(lane.keys, now));
    return { url, allowPrivate, body, headers: { ...headers, ...deliveryHeaders(id, timestamp, signature) } };
  };

  const sleep = (): void => {
    if (isPlanned || needsReload) return plan();
    const now = clock.now();
    const next = isRunning ? lanes.nextWakeAt(now) : null;
    if (lanes.inFlight === 0 && (next === null || next > now)) {
      for (const resolve of waitingForRest.splice(0)) resolve();
    }
    if (next === null) return;
    timer = setTimeout(plan, Math.min(Math.max(next - now, 1), LONGEST_SLEEP_MS));
  };

  const tell = ({ delivery, result }: EndedAttempt, record: RecordedAttempt | null): void => {
    if (record === null) return;
    const { verdict, before, after } = record;
    const { id, webhookId, attempt } = delivery;
    const facts = { webhookId, deliveryId: id, attempt, outcome: verdict.outcome, durationMs: result.durationMs };
    log.debug({ event: "webhook.attempt", ...facts }, verdict.message);
    if (after.state === "failed") log.error({ event: "webhook.failed", ...facts }, "a delivery ran out of attempts");
    if (after.webhookState === "stopped" && before === "enabled") {
      log.error({ event: "webhook.stopped", ...facts }, "the receiver is gone; its deliveries are held");
    }
    if (after.health.breaker === "open") {
      const { failingSince } = after;
      log.warn({ event: "webhook.failing", ...facts, failingSince }, "the receiver keeps failing; it gets probes only");
    }
  };

  return {
    start() {
      const recovered = recoverDeliveries(db, settings.scheduleSeconds, clock.now());
      if (recovered > 0) log.warn({ event: "webhook.recovered", recovered }, "interrupted deliveries go out again");
      isRunning = true;
      outbox.onQueued(plan);
      plan();
    },
    wake: plan,
    reload() {
      needsReload = true;
      plan();
    },
    settled: () =>
      new Promise((resolve) => {
        waitingForRest.push(resolve);
        plan();
      }),
    nextWakeAt: () => lanes.nextWakeAt(clock.now()),
    async stop(graceMs) {
      isRunning = false;
      const atRest = new Promise<void>((resolve) => {
        waitingForRest.push(resolve);
      });
      plan();
      const grace = setTimeout(() => void sender.destroy(), graceMs);
      await Promise.race([atRest, unwritable(graceMs)]);
      clearTimeout(grace);
      if (timer !== null) clearTimeout(timer);
      await sender.destroy();
    },
  };
}

/** The headers that every delivery has; a webhook's own come beside them and never instead. */
export function deliveryHeaders(id: string, timestamp: string, signature: string): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": `formsvc/${version}`,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature,
  };
}

function keysAt(keys: readonly SigningKey[], now: number): Buffer[] {
  return keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ key }) => key);
}

/** Gives up on recording the last results: a database that refuses must not keep the process from ending. */
function unwritable(graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, graceMs + STOP_ROUNDS * DATABASE_RETRY_MS).unref();
  });
}
