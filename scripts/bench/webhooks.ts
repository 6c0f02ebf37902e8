import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "undici";
import { defaultConfig } from "../../src/config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, type Database, openDatabase, query } from "../../src/database/database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { insertEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { newId } from "../../src/foundation/id.ts";
import { createLog } from "../../src/foundation/log.ts";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { Deliverer } from "../../src/webhooks/deliver.ts";
import { createOutbox, type Outbox } from "../../src/webhooks/enqueue-delivery.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { createSender } from "../../src/webhooks/send.ts";
import { createWebhook } from "../../src/webhooks/webhook-store.ts";
import { createAccount } from "../../src/workspaces/workspace-store.ts";
import { median, startServer } from "./processes.ts";

/**
 * The outbox against a bare loop of undici requests to the same receiver with as many requests at once, in interleaved
 * rounds. Usage: taskset -c 0 node scripts/bench/webhooks.ts [ROUNDS] [DELIVERIES]
 */
const [rounds = 5, deliveries = 20_000] = process.argv.slice(2).map(Number);
const AT_ONCE = [4, 32, 64];

const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const receiverFile = fileURLToPath(new URL("webhook-receiver.ts", import.meta.url));
const receiver = await startServer([process.execPath, receiverFile], join(folder, "receiver.log"), {}, "1");
const url = `http://127.0.0.1:${receiver.port}/hook`;
try {
  process.stdout.write(`| at once | bare undici/s | outbox/s | outbox over bare, by round |\n|---|---|---|---|\n`);
  for (const atOnce of AT_ONCE) {
    const results: { bare: number; outbox: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      results.push({ bare: await bareLoop(atOnce), outbox: await drainOutbox(atOnce, `${atOnce}-${round}`) });
    }
    const pick = (read: (round: { bare: number; outbox: number }) => number): number => median(results.map(read));
    const share = pick(({ bare, outbox }) => outbox / bare).toFixed(2);
    const [bare, outbox] = [pick((round) => round.bare), pick((round) => round.outbox)].map(Math.round);
    process.stdout.write(`| ${atOnce} | ${bare} | ${outbox} | ${share} |\n`);
  }
} finally {
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function bareLoop(atOnce: number): Promise<number> {
  const agent = new Agent({ connections: atOnce, pipelining: 1 });
  const body = Buffer.alloc(600, 97);
  const startedAt = performance.now();
  let sent = 0;
  const sendAll = async (): Promise<void> => {
    while (sent < deliveries) {
      sent += 1;
      const headers = { "content-type": "application/json" };
      const answer = await agent.request({ origin: url.slice(0, -5), path: "/hook", method: "POST", headers, body });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendAll));
  const rate = deliveries / ((performance.now() - startedAt) / 1000);
  await agent.close();
  return rate;
}

async function drainOutbox(atOnce: number, name: string): Promise<number> {
  const db = openDatabase(join(folder, `${name}.db`), { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  migrate(db);
  const outbox = createOutbox(db);
  const endpointId = prepare(db, url);
  fill(db, outbox, endpointId, deliveries);
  const settings = {
    ...defaultConfig.webhooks,
    limits: { total: atOnce, perWebhook: atOnce, perHost: atOnce },
  };
  const deliverer = new Deliverer({
    db,
    outbox,
    settings,
    sender: createSender({
      allowed: parseAllowedNetworks(["127.0.0.1"]),
      timeoutMs: settings.timeoutMs,
      resolveHost: createHostResolver(),
    }),
    clock: systemClock,
    log: createLog("silent", "json"),
    random: Math.random,
  });
  const startedAt = performance.now();
  deliverer.start();
  await deliverer.settled();
  const rate = deliveries / ((performance.now() - startedAt) / 1000);
  await deliverer.stop(1000);
  const left = db.first(query.selectFrom("delivery").select("id").where("state", "!=", "delivered"));
  db.close();
  if (left) throw new Error("not everything was delivered");
  return rate;
}

function prepare(db: Database, target: string): string {
  const now = systemClock.now();
  const { workspace } = createAccount(db, "bench@example.com", now);
  const made = { name: "Bench", definition: {}, settings: defaultEndpointSettings };
  const endpoint = db.transaction(() => insertEndpoint(db, workspace, made, defaultConfig.plans, now));
  const settings = { url: target, headers: {}, allowPrivate: true, maxSpamScore: 100 };
  createWebhook(db, endpoint.id, settings, now);
  return endpoint.id;
}

function fill(db: Database, outbox: Outbox, endpointId: string, count: number): void {
  const now = systemClock.now();
  const data = { name: "Ada Lovelace", email: "ada@example.com", message: "A dozen pages and a form. ".repeat(8) };
  const insert = db.prepare(
    `INSERT INTO submission (id, endpoint_id, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
     VALUES (?, ?, 1, ?, 0, '[]', '192.0.2.1', 'bench', ?)`,
  );
  db.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      const id = newId("sub", now);
      insert.run(id, endpointId, JSON.stringify(data), now);
      const told = { id, endpointId, data, spamScore: 0, ipAddress: "192.0.2.1", userAgent: "bench" };
      outbox.enqueue({ ...told, createdAt: now }, now);
    }
  });
}
