import type { Database } from "../database/database.ts";
import { allowedInFlight } from "./breaker.ts";
import type { ClaimedDelivery, Claims } from "./claim-delivery.ts";
import type { DeliverySettings, Webhook } from "./webhook.ts";
import { activeKeys, listWebhooks, type SigningKey } from "./webhook-store.ts";

/** One enabled webhook as the deliverer holds it in memory. */
export interface Lane {
  webhook: Webhook;
  readonly host: string;
  readonly keys: readonly SigningKey[];
  /** When its earliest pending delivery is due; null where none is pending. */
  dueAt: number | null;
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

/** Which deliveries may go out now. Attempts in flight are counted here; everything else is read from the database. */
export class Lanes {
  readonly #db: Database;
  readonly #claims: Claims;
  readonly #settings: DeliverySettings;
  #lanes = new Map<string, Lane>();
  readonly #inFlightByWebhook = new Map<string, number>();
  readonly #inFlightByHost = new Map<string, number>();
  #inFlight = 0;
  /** Where the next round starts, so that every webhook gets its turn. */
  #turn = 0;

  constructor(db: Database, claims: Claims, settings: DeliverySettings) {
    this.#db = db;
    this.#claims = claims;
    this.#settings = settings;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  find(webhookId: string): Lane | undefined {
    return this.#lanes.get(webhookId);
  }

  /** Reads every webhook, its keys and its backlog anew. */
  reload(now: number): void {
    const enabled = listWebhooks(this.#db, null).filter(({ state }) => state === "enabled");
    const keys = activeKeys(this.#db, now);
    this.#lanes = new Map(
      enabled.map((webhook) => {
        const { id, settings, health } = webhook;
        const notBeforeMs = health.notBeforeMs > now + LONGEST_QUIET_MS ? 0 : health.notBeforeMs;
        const lane = {
          webhook: { ...webhook, health: { ...health, notBeforeMs } },
          host: new URL(settings.url).host,
          keys: keys.get(id) ?? [],
          dueAt: this.#earliestDue(id, now),
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
    return [...this.#lanes.values()].some((lane) => this.#capacity(lane, now) > 0 && readyAt(lane) <= now);
  }

  /**
   * Claims what may go out now, `most` at most, and adds it to `claimed`, each time beginning with another webhook.
   * Inside a transaction: release all of it where that is rolled back.
   */
  claim(now: number, most: number, claimed: Sending[]): void {
    const lanes = [...this.#lanes.values()];
    const start = this.#turn % Math.max(1, lanes.length);
    this.#turn = start + 1;
    for (const lane of [...lanes.slice(start), ...lanes.slice(0, start)]) {
      if (readyAt(lane) <= now) this.#claimFrom(lane, now, most - claimed.length, claimed);
    }
  }

  release({ lane }: Sending): void {
    this.#count(lane, -1);
  }

  /** When something may next be claimed, slots permitting; null where nothing waits. */
  nextWakeAt(now: number): number | null {
    const times = [...this.#lanes.values()].filter((lane) => this.#freeSlots(lane) > 0).map(readyAt);
    const next = Math.min(...times);
    return Number.isFinite(next) ? Math.max(next, now) : null;
  }

  #claimFrom(lane: Lane, now: number, most: number, claimed: Sending[]): void {
    const { id, health } = lane.webhook;
    const limit = Math.min(this.#capacity(lane, now), most);
    if (limit <= 0) return;
    const isProbe = health.breaker === "open";
    const taken = isProbe ? this.#claims.claimProbe(id, now) : this.#claims.claimDue(id, limit, now);
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
    const { total, perWebhook, perHost } = this.#settings.limits;
    return Math.min(
      total - this.#inFlight,
      perHost - (this.#inFlightByHost.get(lane.host) ?? 0),
      perWebhook - (this.#inFlightByWebhook.get(lane.webhook.id) ?? 0),
    );
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
