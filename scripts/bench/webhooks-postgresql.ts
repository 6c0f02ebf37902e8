import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultConfig } from "../../src/config/config.ts";
import { type Database, query } from "../../src/database/database.ts";
import { migratePostgresql } from "../../src/database/postgresql/migrate-postgresql.ts";
import { openPostgresql } from "../../src/database/postgresql/open-postgresql.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { all, run, text } from "../../src/database/steps.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { newId } from "../../src/foundation/id.ts";
import { NOTHING_TO_CONFIRM } from "../../src/database/confirmations.ts";
import type { Claims } from "../../src/outbox/sending/claims.ts";
import { renderAround } from "../../src/outbox/queue/event.ts";
import { createOutbox, INSERT_ROW_SQL } from "../../src/outbox/queue/outbox.ts";
import { createClaims as createPostgresqlClaims } from "../../src/outbox/engines/postgresql-claims.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { connectPlainly, startCluster } from "../../test/support/postgresql-cluster.ts";
import { compareRates } from "./compare-rates.ts";
import { drainWebhooks } from "./drain-webhooks.ts";
import { LOAD_CORE, startServer } from "./processes.ts";
import type { Rate } from "./rate.ts";

/**
 * Measures deliveries a second with PostgreSQL and with SQLite, to the same receiver, in interleaved rounds. PostgreSQL and the receiver
 * run on the other core.
 * Usage: taskset -c 0 node scripts/bench/webhooks-postgresql.ts [ROUNDS] [DELIVERIES]
 */
const [rounds = 3, deliveries = 10_000] = process.argv.slice(2).map(Number);
const POSTS_A_COMMIT = 32;
const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
const receiverFile = fileURLToPath(new URL("webhook-receiver.ts", import.meta.url));
const receiver = await startServer(
  [process.execPath, receiverFile],
  join(folder, "receiver.log"),
  {},
  LOAD_CORE,
);
const url = `http://127.0.0.1:${receiver.port}/hook`;
const cluster = await startCluster();
const [postmaster = ""] = readFileSync(join(cluster.folder, "data", "postmaster.pid"), "utf8").split("\n");
execFileSync("taskset", ["-acp", LOAD_CORE, postmaster], { stdio: "ignore" });
let databases = 0;
try {
  await compareRates({
    columns: [
      "at once",
      "SQLite/s",
      "PostgreSQL/s",
      "PostgreSQL over SQLite, by round",
      "processor time over SQLite",
    ],
    values: [4, 64],
    rounds,
    one: onSqlite,
    other: onPostgresql,
    processor: "other over one",
  });
} finally {
  await receiver.stop();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function onSqlite(atOnce: number): Promise<Rate> {
  databases += 1;
  const db = openDatabase(join(folder, `${databases}.db`), { busyTimeoutMs: 1000 });
  migrate(db);
  return drain(db, createClaims(db), atOnce);
}

async function onPostgresql(atOnce: number): Promise<Rate> {
  databases += 1;
  const admin = await connectPlainly(cluster.address("postgres"));
  await admin.query(`CREATE DATABASE bench_${databases}`);
  await admin.end();
  const db = await openPostgresql(cluster.address(`bench_${databases}`));
  await migratePostgresql(db);
  const claims = createPostgresqlClaims({ self: "srv_1", list: () => ["srv_1"] }, NOTHING_TO_CONFIRM);
  return drain(db, claims, atOnce);
}

async function drain(db: Database, claims: Claims, atOnce: number): Promise<Rate> {
  await fill(db);
  return drainWebhooks({ db, claims, outbox: createOutbox(), count: deliveries }, atOnce);
}

async function fill(db: Database): Promise<void> {
  const now = systemClock.now();
  const keyring = createKeyring(defaultConfig.secrets);
  const { endpointId, webhookId, number } = await db.transaction(function* () {
    const { workspace } = yield* insertAccountRows("bench@example.com", now);
    const what = { name: "Bench", definition: {}, settings: defaultEndpointSettings };
    const endpoint = yield* insertEndpointRow(workspace, what, defaultConfig.plans, now);
    const settings = { ...defaultWebhookSettings, url, allowPrivate: true };
    const { webhook } = yield* insertWebhookRows(keyring, endpoint.id, settings, now);
    const [row] = yield* all(query.selectFrom("endpoint_number").select("number"));
    return { endpointId: endpoint.id, webhookId: webhook.id, number: row?.number ?? 1 };
  });
  const data = JSON.stringify({
    name: "Ada Lovelace",
    email: "ada@example.com",
    message: "A dozen pages and a form. ".repeat(8),
  });
  for (let from = 0; from < deliveries; from += POSTS_A_COMMIT * 8) {
    await db.relaxedTransaction(function* () {
      for (let part = from; part < Math.min(deliveries, from + POSTS_A_COMMIT * 8); part += POSTS_A_COMMIT) {
        const count = Math.min(POSTS_A_COMMIT, deliveries - part);
        const ids = Array.from({ length: count }, () => newId("sub", now));
        const rows = ids.map((id) => {
          const told = {
            id,
            endpointId,
            spamScore: 0,
            ipAddress: "192.0.2.1",
            userAgent: "bench",
            createdAt: now,
          };
          const { head, tail } = renderAround(told, "Bench", now);
          return {
            id,
            endpoint_number: number,
            schema_version: 1,
            data,
            spam_score: 0,
            spam_reasons: "[]",
            spam_version: 1,
            ip_address: "192.0.2.1",
            user_agent: "bench",
            created_at: now,
            event_head: head,
            event_tail: tail,
          };
        });
        yield* run(query.insertInto("submission").values(rows));
        const messages = ids.map((id) => [newId("msg", now), id]);
        yield* run(text(INSERT_ROW_SQL, webhookId, now, count, JSON.stringify(messages)));
      }
    });
  }
}
