import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultConfig } from "../../src/config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { migrate } from "../../src/database/migrate.ts";
import type { ClaimedDelivery } from "../../src/outbox/sending/claimed-delivery.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import type { AttemptResult, Transport } from "../../src/outbox/sending/transport.ts";
import { policyOf } from "../../src/webhooks/webhook-transport.ts";
import { median } from "./processes.ts";

/**
 * Measures what one round of the outbox costs (recording four attempts and claiming the next four), with a history and a backlog of this
 * size, and with none.
 * Usage: node scripts/bench/webhook-claims.ts [DELIVERED] [PENDING]
 */
const [delivered = 1_000_000, pending = 100_000] = process.argv.slice(2).map(Number);
const ROUNDS = 500;
const AT_ONCE = 4;
const RECIPIENT = "wh_bench";
const RESULT: AttemptResult = {
  outcome: "delivered",
  blame: "nobody",
  message: "Answered 200.",
  status: 200,
  answer: null,
  retryAfterMs: null,
  durationMs: 1,
};
/** The transport is here for its policy; it sends nothing. */
const TRANSPORT: Transport = {
  kind: "webhook",
  sharedKind: "webhook",
  policy: policyOf(defaultConfig.webhooks),
  routes: () => Promise.resolve(new Map()),
  report: () => undefined,
  destroy: () => Promise.resolve(),
};

const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
try {
  const small = open("small", 0, ROUNDS * AT_ONCE);
  const large = open("large", delivered, pending);
  const times = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.small.push(small());
    times.large.push(large());
  }
  const [smallMs, largeMs] = [median(times.small), median(times.large)];
  process.stdout.write(
    "| delivered | pending | one round, p50, ms | over the small one |\n|---|---|---|---|\n",
  );
  process.stdout.write(`| 0 | ${ROUNDS * AT_ONCE} | ${smallMs.toFixed(3)} | |\n`);
  process.stdout.write(
    `| ${delivered} | ${pending} | ${largeMs.toFixed(3)} | ${(largeMs / smallMs).toFixed(2)} |\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns a function that does one round, and returns how long it took, in milliseconds. */
function open(name: string, deliveredCount: number, pendingCount: number): () => number {
  const db = openDatabase(join(folder, `${name}.db`), { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  migrate(db);
  fill(db, deliveredCount, pendingCount);
  const claims = createClaims(db);
  let sending: readonly ClaimedDelivery[] = [];
  return () => {
    const startedAt = performance.now();
    db.relaxedTransactionNow(() => {
      const now = Date.now();
      const ended = sending.map((delivery) => ({
        delivery,
        transport: TRANSPORT,
        result: RESULT,
        random: 0,
      }));
      db.now(() => claims.finish(ended, now));
      const wants = [{ recipientId: RECIPIENT, limit: AT_ONCE }];
      sending = db.now(() => claims.claimDue(wants, now)).get(RECIPIENT) ?? [];
    });
    return performance.now() - startedAt;
  };
}

function fill(db: SqliteDatabase, deliveredCount: number, pendingCount: number): void {
  db.execute(`
    INSERT INTO account (id, email, created_at) VALUES ('acct_1', 'bench@example.com', 0);
    INSERT INTO workspace VALUES ('ws_1', 'acct_1', 'Bench', 'hobby', 0);
    INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, created_at)
      VALUES ('ep_1', 'ws_1', 'Bench', 'active', 1, '[]', 'drop', 0);
    INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at)
      VALUES ('${RECIPIENT}', 'ep_1', 100, 'enabled', 'closed', 0, 0, 0);
  `);
  const rows = (count: number, first: number): string =>
    `WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n LIMIT ${count})`;
  const insert = (count: number, first: number, state: string): void => {
    if (count === 0) return;
    db.transactionNow(() =>
      db.execute(`
        INSERT INTO submission (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at,
            event_head, event_tail)
          ${rows(count, first)} SELECT printf('sub_%026d', i), 1, 1, '{}', 0, '[]', '', '', i, hex(zeroblob(75)), hex(zeroblob(75))
            FROM n;
        INSERT INTO delivery (id, submission_id, recipient_id, state, attempts, due_at, finished_at)
          ${rows(count, first)} SELECT printf('msg_%026d', i), printf('sub_%026d', i), '${RECIPIENT}', '${state}',
            ${state === "delivered" ? "1, i, i" : "0, i, NULL"} FROM n;
        ${
          state === "delivered"
            ? `INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, status, is_probe)
               ${rows(count, first)} SELECT printf('msg_%026d', i), 1, i, 1, 'delivered', 200, 0 FROM n;`
            : ""
        }
      `),
    );
  };
  insert(deliveredCount, 0, "delivered");
  insert(pendingCount, deliveredCount, "pending");
}
