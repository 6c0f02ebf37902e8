import { expect, test } from "vitest";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const COUNT = 2300;

test("all idempotency keys, messages and submissions past their time go in one round, however many there are", async () => {
  const server = await startServer();
  const { id } = await server.addEndpoint();
  const counted = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT})`;
  server.owner.execute(`
    UPDATE endpoint SET keep_days = 400;
    INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at)
      VALUES ('wh_1', '${id}', 100, 'enabled', 'closed', 0, 0, 1);
    INSERT INTO webhook (id, url, headers, allow_private) VALUES ('wh_1', 'https://example.org/hook', '{}', 0);
    ${counted} INSERT INTO submission
        (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
      SELECT 'sub_7' || i, number, 1, '{}', 0, '[]', '', '', i FROM n, endpoint_number;
    INSERT INTO delivery (id, submission_id, recipient_id, state, due_at, finished_at)
      SELECT 'msg_' || seq, id, 'wh_1', 'delivered', 1, 1 FROM submission;
    ${counted} INSERT INTO submission
        (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
      SELECT 'sub_00' || i, number, 1, '{}', 0, '[]', '', '', i FROM n, endpoint_number;
    ${counted} INSERT INTO idempotency SELECT '${id}', 'secret', CAST(i AS BLOB), x'00', 'sub_' || i, i FROM n`);
  server.owner.execute("UPDATE api_key SET revoked_at = 1 WHERE kind = 'secret'");
  const rows = (table: string): number =>
    Number(server.owner.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  await server.restart();
  const left = (): number[] => ["idempotency", "delivery", "submission"].map(rows);
  await until(() => left().join() === `0,0,${COUNT}`);
  expect(server.owner.prepare("SELECT kind, is_revoked FROM api_key ORDER BY kind").raw().all()).toEqual([
    ["publishable", 0],
    ["secret", 1],
  ]);
  expect(server.log.filter((line) => line.includes("maintenance.failed"))).toEqual([]);
});

test("sessions that have ended and changes that are too old go", async () => {
  const server = await startServer();
  const now = server.clock.now();
  server.owner.execute(`
    INSERT INTO account (id, email, created_at) VALUES ('acct_1', 'ana@example.org', 1);
    INSERT INTO session VALUES
      ('ses_old', 'acct_1', x'00', 1, 1, '', NULL, NULL), ('ses_new', 'acct_1', x'00', ${now}, ${now}, '', NULL, NULL);
    INSERT INTO audit_event (at, action, subject) VALUES (1, 'a.b', 'old'), (${now}, 'a.b', 'new')`);
  await server.restart();
  const left = (sql: string) => server.owner.prepare(sql).pluck().all().join();
  const all = () => [left("SELECT id FROM session"), left("SELECT subject FROM audit_event")];
  await until(() => all().join() === "ses_new,new");
  expect(all()).toEqual(["ses_new", "new"]);
});
