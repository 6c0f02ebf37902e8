import type { Compilable } from "kysely";
import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { LOOK_SQL } from "../../src/outbox/queue/count-deliveries.ts";
import { CLAIM_SQL } from "../../src/outbox/engines/sqlite-claims.ts";
import { newestSql, selectWholes } from "../../src/outbox/queue/delivery-store.ts";
import { BEFORE_ALL, OLD_FAILURES_SQL, selectOld } from "../../src/outbox/queue/delivery-retention.ts";
import { PACED_SQL } from "../../src/outbox/sending/paced-claims.ts";
import { FAULT_SQL } from "../../src/outbox/sending/destinations.ts";
import { RECIPIENTS_OF_ENDPOINT_SQL } from "../../src/outbox/queue/choose-recipients.ts";
import { FINISH_SQL } from "../../src/outbox/engines/sqlite-finish.ts";
import { GATHER_SQL } from "../../src/outbox/sending/gather-messages.ts";
import { PULL_FORWARD_SQL } from "../../src/outbox/sending/lane-claims.ts";
import { PACE_SQL } from "../../src/outbox/sending/pace-store.ts";
import { selectMisplaced } from "../../src/outbox/queue/align-deliveries.ts";
import { selectSending } from "../../src/outbox/sending/recover-deliveries.ts";
import { SPREAD_SQL } from "../../src/outbox/sending/spread-outbox.ts";
import { COUNT_USE_SQL, DROP_OLD_USE_SQL } from "../../src/outbox/queue/quotas.ts";
import { REPLY_SQL } from "../../src/mail/auto-reply/auto-reply-store.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

function planOf(world: WebhookWorld, sql: string): string {
  const parameters = Array.from({ length: sql.split("?").length - 1 }, () => "");
  const rows = world.db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[];
  return rows.map(({ detail }) => detail).join("; ");
}

test("every query that the outbox repeats goes over its index, without a scan or a sort", async () => {
  await using world = new WebhookWorld();
  const expected: [sql: string, index: RegExp][] = [
    [CLAIM_SQL.earliest, /delivery_pending/],
    [CLAIM_SQL.due, /delivery_pending \(recipient_id=\? AND lead_id=\? AND due_at<\?\)/],
    [CLAIM_SQL.probe, /delivery_pending \(recipient_id=\? AND lead_id=\?\)/],
    [PULL_FORWARD_SQL, /delivery_pending/],
    [CLAIM_SQL.mark, /PRIMARY KEY/],
    [FINISH_SQL.recipient, /sqlite_autoindex_recipient_1/],
    [FINISH_SQL.delivery, /PRIMARY KEY/],
    [FAULT_SQL.drop, /PRIMARY KEY/],
    [FINISH_SQL.members, /PRIMARY KEY/],
    [PACED_SQL.due, /delivery_pending \(recipient_id=\? AND lead_id=\? AND due_at<\?\)/],
    [GATHER_SQL.freshIds, /delivery_pending \(recipient_id=\? AND lead_id=\? AND due_at<\?\)/],
    [PACED_SQL.one, /PRIMARY KEY/],
    [GATHER_SQL.postpone, /PRIMARY KEY/],
    [GATHER_SQL.join, /PRIMARY KEY/],
    [PACED_SQL.members, /delivery_members \(lead_id=\?\)/],
    [CLAIM_SQL.markMembers, /PRIMARY KEY/],
    [PACED_SQL.bodies, /SCAN member VIRTUAL TABLE .* SEARCH delivery/],
    [PACE_SQL.read, /PRIMARY KEY/],
    [RECIPIENTS_OF_ENDPOINT_SQL, /recipient_by_endpoint/],
    [CLAIM_SQL.queuedAt, /COVERING INDEX outbox_by_recipient \(recipient_id=\?\)/],
    [CLAIM_SQL.queued, /outbox_by_recipient \(recipient_id=\?\)/],
    [CLAIM_SQL.bodies, /SCAN wanted VIRTUAL TABLE .* SEARCH submission USING INDEX/],
    [CLAIM_SQL.deleteRow, /INTEGER PRIMARY KEY/],
    [CLAIM_SQL.shortenRow, /INTEGER PRIMARY KEY/],
    [SPREAD_SQL.first, /SCAN outbox$/],
    [SPREAD_SQL.oldest.sqlite, /SEARCH outbox USING INTEGER PRIMARY KEY .* SEARCH recipient/],
    [SPREAD_SQL.oldestFor.sqlite, /COVERING INDEX outbox_by_recipient \(recipient_id=\?\)/],
    [SPREAD_SQL.deliveries.sqlite, /SEARCH submission EXISTS USING COVERING INDEX/],
    [SPREAD_SQL.delete.sqlite, /SEARCH outbox USING INTEGER PRIMARY KEY/],
  ];
  for (const [sql, index] of expected) {
    const plan = planOf(world, sql);
    expect(plan, sql).toMatch(index);
    expect(plan, sql).not.toMatch(
      /\bSCAN (?!wanted|member|message|json_each|ids|waiting|counted|\(subquery|outbox$|outbox;)|TEMP B-TREE/,
    );
  }
});

test("what is asked at start and now and then reads only the small index of its state", async () => {
  await using world = new WebhookWorld();
  const expected: [built: Compilable, index: RegExp][] = [
    [selectSending(), /delivery_sending/],
    [selectMisplaced("enabled"), /delivery_held \(recipient_id=\?\)/],
    [selectMisplaced("other"), /delivery_pending \(recipient_id=\?\)/],
    [selectOld(BEFORE_ALL, 0).limit(500), /delivery_delivered \(/],
    [query.deleteFrom("delivery").where("id", "=", ""), /PRIMARY KEY/],
  ];
  for (const [built, index] of expected) {
    const { sql } = built.compile();
    const plan = planOf(world, sql);
    expect(plan, sql).toMatch(index);
    expect(plan, sql).not.toMatch(/TEMP B-TREE|SCAN delivery(?! USING (?:COVERING )?INDEX)/);
  }
});

test("what automatic replies are counted against is found by an index", async () => {
  await using world = new WebhookWorld();
  for (const [sql, index] of [
    [COUNT_USE_SQL, /PRIMARY KEY \(key=\? AND expires_at>\? AND expires_at<\?\)/],
    [DROP_OLD_USE_SQL.sqlite, /quota_use_by_age/],
    ["SELECT 1 FROM quota_use WHERE submission_id = ?", /quota_use_by_submission/],
    [OLD_FAILURES_SQL.sqlite, /delivery_failed \(recipient_id=\?/],
    [REPLY_SQL.byMailbox.sqlite, /mail_recipient_by_mailbox/],
    [REPLY_SQL.field, /PRIMARY KEY/],
  ] as const) {
    const plan = planOf(world, sql);
    expect(plan, sql).toMatch(index);
    expect(plan, sql).not.toMatch(/SCAN (?!recipient)|TEMP B-TREE/);
  }
});

test("the queue of one webhook is counted without reading what it was ever sent", async () => {
  await using world = new WebhookWorld();
  for (const [state, sql] of Object.entries(LOOK_SQL))
    expect(planOf(world, sql.sqlite), state).toContain(`INDEX delivery_${state}`);
});

test("the messages of one webhook in one state are listed by the small index of that state", async () => {
  await using world = new WebhookWorld();
  for (const state of ["failed", "held", "pending", "sending"] as const) {
    const plan = planOf(world, newestSql(state).sqlite);
    expect(plan).toContain(`INDEX delivery_${state}`);
    expect(plan).not.toContain("delivery_by_recipient");
  }
});

test("the others of a summary are counted by the index of its messages alone", async () => {
  await using world = new WebhookWorld();
  const plan = planOf(world, selectWholes(["msg_1", "msg_2"]).compile().sql);
  expect(plan).toMatch(/SEARCH member USING COVERING INDEX delivery_members \(lead_id=\?\)/);
  expect(plan).not.toContain("SCAN");
});

test("deleting a submission or a webhook finds what hangs on it by an index", async () => {
  await using world = new WebhookWorld();
  for (const [sql, index] of [
    ["SELECT 1 FROM delivery WHERE submission_id = ?", /delivery_by_submission/],
    ["SELECT 1 FROM delivery WHERE recipient_id = ?", /delivery_by_recipient/],
    ["SELECT 1 FROM outbox WHERE recipient_id = ?", /outbox_by_recipient/],
    ["SELECT 1 FROM delivery WHERE lead_id = ?", /delivery_members/],
    ["SELECT 1 FROM attempt WHERE delivery_id = ?", /PRIMARY KEY/],
    ["SELECT 1 FROM webhook_secret WHERE webhook_id = ?", /PRIMARY KEY/],
  ] as const) {
    expect(planOf(world, sql)).toMatch(index);
  }
});
