import { join } from "node:path";
import Driver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../../src/database/migrations.generated.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const BEFORE = 11;
const SUBMISSIONS = 5000;

function databaseBefore() {
  const connection = new Driver(join(temporaryFolder(), "formsvc.db"));
  onTestFinished(() => void connection.close());
  for (const { sql } of migrations.slice(0, BEFORE)) connection.exec(sql);
  return connection;
}

function migrate(connection: Driver.Database): void {
  connection.exec(migrations[BEFORE].sql);
}

test("the oldest account of an earlier version becomes the operator, whatever its id", () => {
  const connection = databaseBefore();
  connection.exec(
    "INSERT INTO account VALUES ('acct_1', 'b@example.org', 2), ('acct_2', 'a@example.org', 1)",
  );
  migrate(connection);
  expect(connection.prepare("SELECT id FROM account WHERE is_operator = 1").pluck().all()).toEqual([
    "acct_2",
  ]);
});

test("the tables of the dashboard are added without writing a submission again", () => {
  const connection = databaseBefore();
  connection.exec(`
    INSERT INTO account VALUES ('acct_1', 'a@example.org', 1);
    INSERT INTO workspace VALUES ('ws_1', 'acct_1', 'a', 'hobby', 1);
    INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, created_at)
      VALUES ('ep_1', 'ws_1', 'Contact', 'active', 1, '[]', 'drop', 1);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${SUBMISSIONS})
    INSERT INTO submission
        (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
      SELECT 'sub_' || i, 1, 1, '{}', 0, '[]', '', '', i FROM n`);
  const pages = () => Number(connection.pragma("page_count", { simple: true }));
  const [before, changes] = [pages(), "SELECT total_changes()"];
  const changed = Number(connection.prepare(changes).pluck().get());
  migrate(connection);
  expect(pages() - before).toBeLessThan(20);
  expect(Number(connection.prepare(changes).pluck().get()) - changed).toBeLessThan(100);
});
