import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { allowedInFlight } from "./breaker.ts";
import type { ClaimedDelivery, Claims } from "./sqlite-claims.ts";
import type { ReadWebhooks } from "../webhooks/open-webhooks.ts";
import type { DeliverySettings, Webhook } from "../webhooks/webhook.ts";
import type { OpenWebhook } from "../webhooks/webhook-secrets.ts";

/** One enabled webhook as the deliverer holds it in memory. */
export interface Lane {
  webhook: Webhook;
  readonly host: string;
  /** What its requests are made with. */
  readonly open: OpenWebhook;
  /** When its earliest pending delivery is due; null where none is pending. */
  dueAt: number | null;
  /** Claimed and not sent yet, because every slot was taken: the next free one needs no transaction. */
  readonly ready: ClaimedDelivery[];
  /** Attempts that delivered quickly since the last round; below zero where one did not. */
  quick: number;
  /** When the last of them ended, by the process's own clock. */
  quickAt: number;
}

/** A claimed delivery and the lane it goes out on, which holds its slot until it is released. */
export interface Sending {
  readonly lane: Lane;
  readonly delivery: ClaimedDelivery;
}

/** A delivery planned further ahead than the schedule allows was planned by a wrong clock. */
const FURTHEST_PLAN_MS = 36 * 3_600_000;
/** No receiver may ask for more quiet than this, so a time further off was written by a wrong clock too. */
const LONGEST_QUIET_MS = 24 * 3_600_000;

/** A receiver that answers this fast gets deliveries claimed ahead. */
const QUICK_MS = 20;
/** What is claimed ahead goes back where its receiver has not answered for so long. */
export const AHEAD_MS = 25;
/** Most deliveries claimed ahead for one webhook, and for all. */
const MOST_AHEAD = 64;
const MOST_AHEAD_IN_ALL = 256;

/** Which deliveries may go out now. Attempts in flight are counted here; everything else is read from the database. */
export class Lanes {
  readonly #db: SqliteDatabase;
  readonly #readWebhooks: ReadWebhooks;
  readonly #claims: Claims;
  readonly #settings: DeliverySettings;
  #lanes = new Map<string, Lane>();
  readonly #inFlightByWebhook = new Map<string, number>();
  readonly #inFlightByHost = new Map<string, number>();
  #inFlight = 0;
  /** How many are claimed ahead. */
  #ahead = 0;
  /** Where the next round starts, so that every webhook gets its turn. */
  #turn = 0;

  constructor(db: SqliteDatabase, readWebhooks: ReadWebhooks, claims: Claims, settings: DeliverySettings) {
    this.#db = db;
    this.#readWebhooks = readWebhooks;
    this.#claims = claims;
    this.#settings = settings;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get ahead(): number {
    return this.#ahead;
  }

  find(webhookId: string): Lane | undefined {
    return this.#lanes.get(webhookId);
  }

  /** Reads every webhook, its keys and its backlog anew; give back first what is claimed ahead. */
  reload(now: number): void {
    this.#lanes = new Map(
      this.#readWebhooks(now).map(({ webhook, open }) => {
        const { id, settings, health } = webhook;
        const notBeforeMs = health.notBeforeMs > now + LONGEST_QUIET_MS ? 0 : health.notBeforeMs;
        const lane = {
          webhook: { ...webhook, health: { ...health, notBeforeMs } },
          host: new URL(settings.url).host,
          open,
          dueAt: this.#earliestDue(id, now),
          ready: [],
          quick: 0,
          quickAt: 0,
        };
        return [id, lane];
      }),
    );
  }

  /** New deliveries were queued for these webhooks. */
  noteQueued(webhookIds: Iterable<string>, now: number): void {
    for (const id of webhookIds) {
      const lane = this.#lanes.get(id);
      if (lane) lane.dueAt = this.#earliestDue(id, now);
    }
  }

  /** A delivery of this webhook goes back into the queue. */
  noteRetry(webhookId: string, dueAt: number): void {
    const lane = this.#lanes.get(webhookId);
    if (lane) lane.dueAt = Math.min(dueAt, lane.dueAt ?? dueAt);
  }

  /** Whether anything may be claimed. */
  hasWork(now: number): boolean {
    return [...this.#lanes.values()].some((lane) => this.#capacity(lane, now) > 0 && hasDue(lane, now));
  }

  /**
   * Claims what may go out now, `most` at most, and adds it to `claimed`, each time beginning with another webhook.
   * Inside a transaction: call {@link Lanes.undo} with all of it where that is rolled back.
   */
  claim(now: number, most: number, claimed: Sending[]): void {
    const lanes = [...this.#lanes.values()];
    const start = this.#turn % Math.max(1, lanes.length);
    this.#turn = start + 1;
    const due = [...lanes.slice(start), ...lanes.slice(0, start)].filter((lane) => hasDue(lane, now));
    for (const lane of due) this.#claimFrom(lane, now, most - claimed.length, claimed);
  }

  /**
   * Claims more for receivers that answer faster than transactions are worth their while. Inside a transaction, after
   * {@link Lanes.claim}; where that is rolled back, give it back.
   */
  claimAhead(now: number): void {
    const due = [...this.#lanes.values()].filter((lane) => readyAt(lane) <= now);
    for (const lane of due) {
      // Where others wait for the same slots, each slot is given to the next in turn.
      const isAlone = due.length === 1 || this.#sharedSlots(lane) > 0;
      const { breaker, count } = lane.webhook.health;
      const isWell = breaker === "closed" && count === 0;
      const wanted = isAlone && isWell ? Math.min(2 * lane.quick, MOST_AHEAD) : 0;
      const limit = Math.min(wanted - lane.ready.length, MOST_AHEAD_IN_ALL - this.#ahead);
      if (limit <= 0) continue;
      const taken = this.#claims.claimDue(lane.webhook.id, limit, now);
      lane.ready.push(...taken);
      this.#ahead += taken.length;
      if (taken.length < limit) lane.dueAt = this.#earliestDue(lane.webhook.id, now);
    }
    for (const lane of this.#lanes.values()) lane.quick = 0;
  }

  /** One more delivery that is claimed already, for the slot that this one leaves; null where it needs a claim. */
  next({ lane: { webhook } }: Sending, now: number): Sending | null {
    const lane = this.#lanes.get(webhook.id);
    if (!lane || lane.quick <= 0 || this.#capacity(lane, now) <= 0) return null;
    const delivery = this.#takeReady(lane, 1)[0];
    if (!delivery) return null;
    this.#count(lane, 1);
    return { lane, delivery };
  }

  /** An attempt has ended: its slot is free. */
  release({ lane }: Sending, wasDelivered: boolean, durationMs: number): void {
    this.#count(lane, -1);
    const current = this.#lanes.get(lane.webhook.id);
    if (current) {
      const isQuick = wasDelivered && durationMs <= QUICK_MS;
      current.quick = isQuick ? current.quick + 1 : Number.NEGATIVE_INFINITY;
      if (isQuick) current.quickAt = performance.now();
    }
  }

  /** A transaction with these claims was rolled back. */
  undo(claimed: readonly Sending[]): void {
    for (const { lane, delivery } of claimed) {
      this.#count(lane, -1);
      lane.ready.push(delivery);
      this.#ahead += 1;
    }
  }

  /**
   * Puts what was claimed ahead back into the queue, in a transaction of its own: of all webhooks, or of those whose
   * receivers are not quick any more.
   */
  giveBack(which: "all" | "slow", now: number): void {
    if (this.#ahead === 0) return;
    const latest = performance.now() - AHEAD_MS;
    const lanes = [...this.#lanes.values()].filter(
      ({ ready, quick, quickAt }) => ready.length > 0 && (which === "all" || quick < 0 || quickAt < latest),
    );
    if (lanes.length === 0) return;
    this.#db.relaxedTransactionNow(() => {
      for (const { ready } of lanes) this.#claims.giveBack(ready);
    });
    for (const lane of lanes) {
      this.#takeReady(lane, lane.ready.length);
      lane.dueAt = this.#earliestDue(lane.webhook.id, now);
    }
  }

  /** When something may next be claimed; null where nothing waits but for the end of an attempt, which wakes by itself. */
  nextWakeAt(now: number): number | null {
    const open = [...this.#lanes.values()].filter(
      (lane) => this.#capacity(lane, Math.max(now, lane.webhook.health.notBeforeMs)) > 0,
    );
    const next = Math.min(...open.map(readyAt));
    return Number.isFinite(next) ? Math.max(next, now) : null;
  }

  #claimFrom(lane: Lane, now: number, most: number, claimed: Sending[]): void {
    const { id, health } = lane.webhook;
    const limit = Math.min(this.#capacity(lane, now), most);
    if (limit <= 0) return;
    const isProbe = health.breaker === "open";
    const taken = this.#takeReady(lane, limit);
    const rest = limit - taken.length;
    if (isProbe) taken.push(...this.#claims.claimProbe(id, now));
    else if (rest > 0) taken.push(...this.#claims.claimDue(id, rest, now));
    this.#count(lane, taken.length);
    for (const delivery of taken) claimed.push({ lane, delivery });
    // Where as much was taken as may be, there is likely more that is due; the next claim will tell.
    if (isProbe || taken.length < limit) lane.dueAt = this.#earliestDue(id, now);
  }

  #capacity(lane: Lane, now: number): number {
    const { perWebhook } = this.#settings.limits;
    const { probeSeconds } = this.#settings;
    const allowed = allowedInFlight(lane.webhook.health, { perWebhook, probeSeconds }, now);
    const running = this.#inFlightByWebhook.get(lane.webhook.id) ?? 0;
    return Math.min(allowed - running, this.#freeSlots(lane));
  }

  #freeSlots(lane: Lane): number {
    const { perWebhook } = this.#settings.limits;
    return Math.min(
      this.#sharedSlots(lane),
      perWebhook - (this.#inFlightByWebhook.get(lane.webhook.id) ?? 0),
    );
  }

  /** Free slots that other webhooks could take as well. */
  #sharedSlots({ host }: Lane): number {
    const { total, perHost } = this.#settings.limits;
    return Math.min(total - this.#inFlight, perHost - (this.#inFlightByHost.get(host) ?? 0));
  }

  #takeReady(lane: Lane, most: number): ClaimedDelivery[] {
    const taken = lane.ready.splice(0, most);
    this.#ahead -= taken.length;
    return taken;
  }

  #count({ webhook, host }: Lane, change: number): void {
    this.#inFlight += change;
    addTo(this.#inFlightByWebhook, webhook.id, change);
    addTo(this.#inFlightByHost, host, change);
  }

  #earliestDue(webhookId: string, now: number): number | null {
    const due = this.#claims.earliestDue(webhookId);
    if (due === null || due <= now + FURTHEST_PLAN_MS) return due;
    this.#claims.pullForward(webhookId, now + FURTHEST_PLAN_MS);
    return now + FURTHEST_PLAN_MS;
  }
}

function hasDue(lane: Lane, now: number): boolean {
  return lane.ready.length > 0 || readyAt(lane) <= now;
}

/** With the breaker open a probe goes out as soon as the wait is over, whenever its message was due. */
function readyAt({ dueAt, webhook: { health } }: Lane): number {
  if (dueAt === null) return Number.POSITIVE_INFINITY;
  return health.breaker === "open" ? health.notBeforeMs : Math.max(dueAt, health.notBeforeMs);
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
