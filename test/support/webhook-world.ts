import { join } from "node:path";
import { Webhook as OfficialWebhook } from "standardwebhooks";
import { defaultConfig } from "../../src/config/config.ts";
import { query } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { all } from "../../src/database/steps.ts";
import { migrate } from "../../src/database/migrate.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { silentLog } from "./silent-log.ts";
import { createKeyring, type Keyring, type SecretsSettings } from "../../src/secrets/keyring.ts";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import type { Delivery } from "../../src/outbox/queue/delivery.ts";
import { BEFORE_ALL, dropOldDeliveries } from "../../src/outbox/queue/delivery-retention.ts";
import { getDelivery, leadOf, listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import type { NotifiedSubmission } from "../../src/outbox/queue/event.ts";
import { createSqliteOutbox, type SqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import { EVERYTHING_QUEUED, lookThroughQueued } from "../../src/outbox/queue/queued-deliveries.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { createHttpSender, type HttpSender } from "../../src/webhooks/send.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import type { AttemptResult, Transport } from "../../src/outbox/sending/transport.ts";
import {
  defaultWebhookSettings,
  type DeliverySettings,
  type Webhook,
  type WebhookSettings,
} from "../../src/webhooks/webhook.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { createWebhookTransport } from "../../src/webhooks/webhook-transport.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { createFakeClock } from "./fake-clock.ts";
import { copyFreshDatabase } from "./fresh-database.ts";
import type { Received } from "./receivers.ts";
import { submissionAdder } from "./add-submission.ts";
import { memoryFolder } from "./memory-folder.ts";
import { makeFolder } from "./temporary-folder.ts";

/** The result of an attempt that delivered the message. */
export const ANSWERED: AttemptResult = {
  outcome: "delivered",
  blame: "nobody",
  message: "Answered 200.",
  status: 200,
  answer: null,
  retryAfterMs: null,
  durationMs: 1,
};

/** One database with one endpoint, and a deliverer over it as `serve` makes it. */
export class WebhookWorld {
  readonly #folder = makeFolder(memoryFolder());
  readonly #databasePath = join(this.#folder.path, "formsvc.db");
  /** Starts at the real time, because official verifiers compare it with their own. */
  readonly clock = createFakeClock(Date.now());
  readonly settings: DeliverySettings;
  readonly keyring: Keyring;
  readonly endpointId: string;
  db: SqliteDatabase;
  outbox: SqliteOutbox;
  transport: Transport;
  deliverer: Deliverer;
  readonly #senders: HttpSender[] = [];

  constructor(settings: Partial<DeliverySettings> = {}, secrets: SecretsSettings = defaultConfig.secrets) {
    this.keyring = createKeyring(secrets);
    this.settings = { ...defaultConfig.webhooks, timeoutMs: 2000, ...settings };
    copyFreshDatabase(this.#databasePath);
    this.db = this.openDatabase();
    const { workspace } = this.db.now(() => insertAccountRows("owner@example.com", this.clock.now()));
    const made = { name: "Contact", definition: {}, settings: defaultEndpointSettings };
    const plans = defaultConfig.plans;
    this.endpointId = this.db.now(() => insertEndpointRow(workspace, made, plans, this.clock.now())).id;
    this.outbox = createSqliteOutbox(this.db);
    this.transport = this.#newTransport();
    this.deliverer = this.#newDeliverer();
  }

  openDatabase(): SqliteDatabase {
    const db = openDatabase(this.#databasePath, { busyTimeoutMs: 10 });
    migrate(db);
    return db;
  }

  #newTransport(): Transport {
    const sender = createHttpSender({
      allowed: parseAllowedNetworks(["127.0.0.1"]),
      timeoutMs: this.settings.timeoutMs,
      resolveHost: createHostResolver(),
    });
    this.#senders.push(sender);
    const { db, keyring, settings, clock } = this;
    return createWebhookTransport({
      db,
      keyring,
      sender,
      dashboardUrl: null,
      settings,
      clock,
      log: silentLog,
    });
  }

  #newDeliverer(): Deliverer {
    const { db, outbox, transport, clock } = this;
    const claims = createClaims(db);
    return new Deliverer({
      db,
      claims,
      outbox,
      transports: [transport],
      clock,
      log: silentLog,
      random: () => 0,
    });
  }

  /** Starts again like a new process: everything in memory is lost, and the file is unchanged. */
  async restart(): Promise<void> {
    this.db.close();
    this.db = this.openDatabase();
    this.outbox = createSqliteOutbox(this.db);
    this.transport = this.#newTransport();
    this.deliverer = this.#newDeliverer();
    await this.deliverer.recover();
    this.deliverer.start();
  }

  addWebhook(url: string, settings: Partial<WebhookSettings> = {}): { webhook: Webhook; secret: string } {
    const chosen = { ...defaultWebhookSettings, url, ...settings };
    const made = this.db.now(() =>
      insertWebhookRows(this.keyring, this.endpointId, chosen, this.clock.now()),
    );
    this.deliverer.reload();
    return { webhook: made.webhook, secret: made.secret ?? "" };
  }

  /** Stores submissions in one transaction, as a commit batch does, and returns their ids. */
  post(count = 1, data: Record<string, unknown> = { message: "hello" }, spamScore = 0): string[] {
    const now = this.clock.now();
    const told = { endpointId: this.endpointId, spamScore, ipAddress: "192.0.2.1", userAgent: "test" };
    const posts = Array.from({ length: count }, () => ({ ...told, id: newId("sub", now), createdAt: now }));
    this.store(posts, data, now);
    return posts.map(({ id }) => id);
  }

  store(submissions: readonly NotifiedSubmission[], data: Record<string, unknown>, now: number): void {
    const insert = submissionAdder(this.db);
    this.outbox.transactionNow((enqueue) => {
      for (const submission of submissions) insert({ ...submission, data }, enqueue(submission, now));
    });
  }

  /** Turns the messages in the outbox into deliveries that are due. */
  async spread(): Promise<void> {
    await spreadOutbox(this.db, this.clock.now());
  }

  /** Waits until everything that is due at the clock's time has happened. */
  async settle(): Promise<void> {
    this.deliverer.wake();
    await this.deliverer.settled();
  }

  /** Moves the clock to each planned time, one after the other, until `untilMs`. */
  async runUntil(untilMs: number): Promise<void> {
    await this.settle();
    for (;;) {
      const next = this.deliverer.nextWakeAt();
      if (next === null || next > untilMs) break;
      this.clock.set(Math.max(next, this.clock.now()));
      await this.settle();
    }
    this.clock.set(Math.max(untilMs, this.clock.now()));
    await this.settle();
  }

  /**
   * Like {@link WebhookWorld.runUntil}, with one more post in each round. If the receiver accepts these posts, it never fails five times in
   * a row.
   */
  async runAmongOthers(untilMs: number): Promise<void> {
    await this.settle();
    for (let next = this.deliverer.nextWakeAt(); next !== null && next <= untilMs;) {
      this.post();
      await this.settle();
      this.clock.set(Math.max(next, this.clock.now()));
      await this.settle();
      next = this.deliverer.nextWakeAt();
    }
  }

  states(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { state } of this.#deliveries()) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }

  deliveryIds(): string[] {
    return this.#deliveries()
      .map(({ id }) => id)
      .toSorted();
  }

  /** Lists the deliveries, and the messages that still wait in the outbox. */
  #deliveries(): { readonly id: string; readonly state: string }[] {
    return [
      ...queuedDeliveries(this.db),
      ...this.db.now(() => all(query.selectFrom("delivery").select(["id", "state"]))),
    ];
  }

  /** Lists what is wrong with the database, which should be at rest; empty if nothing is. */
  inconsistencies(): string[] {
    const found = [String(this.db.pragma("integrity_check"))].filter((result) => result !== "ok");
    for (const id of this.deliveryIds()) {
      const delivery = this.db.now(() => getDelivery(id));
      const { state, attempts } = delivery;
      const numbers = this.db.now(() => listAttempts(leadOf(delivery))).map(({ number }) => number);
      const recorded = state === "sending" ? attempts - 1 : attempts;
      const isWhole = numbers.length === recorded && numbers.every((number, index) => number === index + 1);
      if (!isWhole) found.push(`${id}: ${attempts} attempts, recorded: ${numbers.join(" ")}`);
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.deliverer.stop(0);
    await Promise.all(this.#senders.map((sender) => sender.destroy()));
    this.db.close();
    this.#folder.remove();
  }
}

/** Lists the messages in the outbox as the deliveries that they will become. */
export function queuedDeliveries(db: SqliteDatabase): Delivery[] {
  const found: Delivery[] = [];
  const look = (delivery: Delivery): boolean => {
    found.push(delivery);
    return false;
  };
  db.now(() => lookThroughQueued(EVERYTHING_QUEUED, "oldest", look));
  return found;
}

/** Verifies a message with the official library, as a receiver would. @throws if it is not genuine */
export function verifyWithOfficial(secret: string, { body, headers }: Received): void {
  new OfficialWebhook(secret).verify(body, headers as Record<string, string>);
}

/** Looks once for delivered messages of webhooks that are older than this number of days, and returns how many it looked at. */
export function dropOld(world: WebhookWorld, days: number | null): number {
  const kept = { kind: "webhook", days };
  return world.db.now(() => dropOldDeliveries(kept, BEFORE_ALL, world.clock.now())).looked;
}
