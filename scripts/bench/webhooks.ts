import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "undici";
import { defaultConfig } from "../../src/config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { newId } from "../../src/foundation/id.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { createSqliteOutbox, type SqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { compareRates } from "./compare-rates.ts";
import { drainWebhooks } from "./drain-webhooks.ts";
import { LOAD_CORE, startServer } from "./processes.ts";
import { measureRate, type Rate } from "./rate.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";

/**
 * Compares the outbox with a bare loop of undici requests to the same receiver with the same number of requests at once, in interleaved
 * rounds.
 * Usage: taskset -c 0 node scripts/bench/webhooks.ts [ROUNDS] [DELIVERIES]
 */
const [rounds = 5, deliveries = 20_000] = process.argv.slice(2).map(Number);
/** The number of posts that a busy server stores in one transaction. */
const POSTS_A_COMMIT = 32;
let databases = 0;

const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const receiverFile = fileURLToPath(new URL("webhook-receiver.ts", import.meta.url));
const receiver = await startServer(
  [process.execPath, receiverFile],
  join(folder, "receiver.log"),
  {},
  LOAD_CORE,
);
const url = `http://127.0.0.1:${receiver.port}/hook`;
try {
  await compareRates({
    columns: [
      "at once",
      "bare undici/s",
      "outbox/s",
      "outbox over bare, by round",
      "processor time of bare over outbox",
    ],
    values: [4, 32, 64],
    rounds,
    one: bareLoop,
    other: drainOutbox,
    processor: "one over other",
  });
} finally {
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function bareLoop(atOnce: number): Promise<Rate> {
  const agent = new Agent({ connections: atOnce, pipelining: 1 });
  const body = Buffer.alloc(600, 97);
  let sent = 0;
  const sendAll = async (): Promise<void> => {
    while (sent < deliveries) {
      sent += 1;
      const headers = { "content-type": "application/json" };
      const answer = await agent.request({
        origin: url.slice(0, -5),
        path: "/hook",
        method: "POST",
        headers,
        body,
      });
      await answer.body.text();
    }
  };
  const rate = await measureRate(
    deliveries,
    async () => void (await Promise.all(Array.from({ length: atOnce }, sendAll))),
  );
  await agent.close();
  return rate;
}

async function drainOutbox(atOnce: number): Promise<Rate> {
  databases += 1;
  const db = openDatabase(join(folder, `${databases}.db`), { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  migrate(db);
  const outbox = createSqliteOutbox(db);
  fill(db, outbox, prepare(db, url), deliveries);
  return drainWebhooks({ db, claims: createClaims(db), outbox, count: deliveries }, atOnce);
}

function prepare(db: SqliteDatabase, target: string): string {
  const now = systemClock.now();
  const { workspace } = db.now(() => insertAccountRows("bench@example.com", now));
  const made = { name: "Bench", definition: {}, settings: defaultEndpointSettings };
  const endpoint = db.now(() => insertEndpointRow(workspace, made, defaultConfig.plans, now));
  const settings = { ...defaultWebhookSettings, url: target, allowPrivate: true };
  db.now(() => insertWebhookRows(createKeyring(defaultConfig.secrets), endpoint.id, settings, now));
  return endpoint.id;
}

function fill(db: SqliteDatabase, outbox: SqliteOutbox, endpointId: string, count: number): void {
  const now = systemClock.now();
  const data = {
    name: "Ada Lovelace",
    email: "ada@example.com",
    message: "A dozen pages and a form. ".repeat(8),
  };
  const insert = submissionAdder(db);
  for (let from = 0; from < count; from += POSTS_A_COMMIT) {
    outbox.transactionNow((enqueue) => {
      for (let index = from; index < Math.min(count, from + POSTS_A_COMMIT); index += 1) {
        const id = newId("sub", now);
        const told = { id, endpointId, spamScore: 0, ipAddress: "192.0.2.1", userAgent: "bench" };
        const post = { ...told, createdAt: now };
        insert({ ...post, data }, enqueue(post, now));
      }
    });
  }
}
