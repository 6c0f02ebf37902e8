import { defaultConfig } from "../../src/config/config.ts";
import { type Database, query } from "../../src/database/database.ts";
import { first } from "../../src/database/steps.ts";
import { systemClock as clock } from "../../src/foundation/clock.ts";
import { createLog } from "../../src/foundation/log.ts";
import type { Outbox } from "../../src/outbox/queue/outbox.ts";
import type { Claims } from "../../src/outbox/sending/claims.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { createHttpSender } from "../../src/webhooks/send.ts";
import { createWebhookTransport } from "../../src/webhooks/webhook-transport.ts";
import { measureRate, type Rate } from "./rate.ts";

interface Queue {
  readonly db: Database;
  readonly claims: Claims;
  readonly outbox: Outbox;
  /** The number of waiting deliveries. */
  readonly count: number;
}

/** Delivers everything that waits, with this number of requests at once, and closes the database. */
export async function drainWebhooks({ db, claims, outbox, count }: Queue, atOnce: number): Promise<Rate> {
  const log = createLog("silent", { write: () => undefined });
  const limits = { total: atOnce, perWebhook: atOnce, perHost: atOnce };
  const settings = { ...defaultConfig.webhooks, limits };
  const sender = createHttpSender({
    allowed: parseAllowedNetworks(["127.0.0.1"]),
    timeoutMs: settings.timeoutMs,
    resolveHost: createHostResolver(),
  });
  const keyring = createKeyring(defaultConfig.secrets);
  const transport = createWebhookTransport({ db, keyring, sender, dashboardUrl: null, settings, clock, log });
  const parts = { db, claims, outbox, transports: [transport], clock, log };
  const deliverer = new Deliverer({ ...parts, random: Math.random });
  const rate = await measureRate(count, () => {
    deliverer.start();
    return deliverer.settled();
  });
  await deliverer.stop(1000);
  const left = await db.read(() =>
    first(query.selectFrom("delivery").select("id").where("state", "!=", "delivered")),
  );
  await db.close();
  if (left) throw new Error("not everything was delivered");
  return rate;
}
