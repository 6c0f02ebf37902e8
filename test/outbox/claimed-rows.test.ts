import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copyToFile, copyToPostgresql } from "../../src/database/copy-database.ts";
import { type Database, query } from "../../src/database/database.ts";
import { all, run, text } from "../../src/database/steps.ts";
import type { ClaimedDelivery } from "../../src/outbox/sending/claimed-delivery.ts";
import { deleteRecipient } from "../../src/outbox/queue/recipient-store.ts";
import { recoverDeliveries } from "../../src/outbox/sending/recover-deliveries.ts";
import { replayDelivery } from "../../src/outbox/queue/replay-deliveries.ts";
import type { EndedAttempt } from "../../src/outbox/sending/transport.ts";
import { ended, PIGEON } from "../support/ended-attempt.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { claimsOn, erase, queueOn } from "../support/queue-on-engine.ts";
import { openForTest as openFileForTest } from "../support/temporary-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  hasPostgresql,
  openForTest,
  temporaryAddress,
  temporaryPostgresql,
} from "../support/temporary-postgresql.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

interface OutboxRow {
  readonly message_count: number;
  readonly messages: string;
  readonly claimed_by: string | null;
}

/** Messages to one recipient in one row of the outbox, which this server has claimed. */
async function claimRow(count: number, storedAt = NOON) {
  const db = await temporaryPostgresql();
  const queue = await queueOn(db);
  const [to = ""] = await queue.recipients(1);
  const posted = await queue.post(count, storedAt);
  await queue.gatherInOneRow();
  return { db, queue, to, posted, claimed: await claimAhead(db, to, count) };
}

async function claimAhead(db: Database, recipientId: string, limit: number, self = "one") {
  const wants = [{ recipientId, limit, bytes: 1e6 }];
  const claimed = await db.relaxedTransaction(() => claimsOn(db, self).claimAhead(wants, NOON));
  return claimed.get(recipientId) ?? [];
}

function finish(db: Database, ...attempts: readonly EndedAttempt[]) {
  return db.relaxedTransaction(() => claimsOn(db).finish(attempts, NOON + 10));
}

/** How many messages a row of the outbox has, and who sends them. */
async function outboxOf(db: Database): Promise<[number, string | null][]> {
  const rows = await rowsOf<OutboxRow>(db, "SELECT message_count, messages, claimed_by FROM outbox");
  return rows.map(({ message_count: count, messages, claimed_by: server }) => {
    expect(JSON.parse(messages)).toHaveLength(count);
    return [count, server];
  });
}

const attemptsOf = (db: Database) => db.read(() => all(query.selectFrom("attempt").selectAll()));

describe.runIf(hasPostgresql)("a row of the outbox that is claimed whole", () => {
  test("keeps each message until its attempt has ended, and nobody else gets one", async () => {
    const { db, queue, to, posted, claimed } = await claimRow(4);
    const told = claimed.map(
      ({ body }) => (JSON.parse(body) as { submission: { id: string } }).submission.id,
    );
    expect(told).toEqual(posted);
    expect(claimed[0]).toMatchObject({ attempt: 1, spent: 0, interruptions: 0, claimedAt: NOON });
    const claims = claimsOn(db, "two");
    const wants = [{ recipientId: to, limit: 9 }];
    const others = db.relaxedTransaction(() => claims.claimDue(wants, NOON));
    expect((await others).get(to)).toEqual([]);
    expect(await claimAhead(db, to, 9, "two")).toEqual([]);
    expect(await db.relaxedTransaction(() => claims.claimProbe(to, NOON))).toEqual([]);
    expect((await db.read(() => claims.earliestDue([to]))).get(to)).toBeNull();
    expect(await db.read(() => claims.readQueued())).toEqual([]);
    expect(await queue.states()).toEqual({});
    expect(await db.relaxedTransaction(() => claims.finish([ended(claimed[0]!)], NOON))).toEqual([null]);
    expect(await outboxOf(db)).toEqual([[4, "one"]]);

    const [one, two, three, four] = claimed as [
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
    ];
    const failed = { outcome: "failed", blame: "recipient", status: 500 } as const;
    const records = await finish(db, ended(two, failed), ended(three));
    expect(records.map((record) => record?.after.state)).toEqual(["pending", "delivered"]);
    expect(await outboxOf(db)).toEqual([[2, "one"]]);
    await finish(db, ended(one), ended(four));
    expect(await outboxOf(db)).toEqual([]);
    const rows = await db.read(() => all(query.selectFrom("delivery").selectAll().orderBy("id")));
    const delivered = { state: "delivered", attempts: 1, spent: 0, finished_at: NOON + 10, last_status: 200 };
    const pending = { state: "pending", attempts: 1, spent: 1, finished_at: null, last_status: 500 };
    expect(rows).toMatchObject([delivered, pending, delivered, delivered]);
    expect(rows.map(({ id }) => id)).toEqual(claimed.map(({ id }) => id));
    expect(await attemptsOf(db)).toHaveLength(4);
  });

  test("records a result once, even if it did not hear that it was recorded", async () => {
    const { db, queue, claimed } = await claimRow(2);
    const attempts = claimed.map((delivery) => ended(delivery));
    const [first] = attempts as [EndedAttempt];
    expect(await finish(db, first)).toMatchObject([{ after: { state: "delivered" } }]);
    const again = await finish(db, ...attempts);
    expect(again).toMatchObject([null, { after: { state: "delivered" } }]);
    expect(await queue.states()).toEqual({ delivered: 2 });
    expect(await attemptsOf(db)).toHaveLength(2);
  });

  test("gives back what will not be sent, while the others of the row go on", async () => {
    const { db, queue, to, claimed } = await claimRow(4);
    const [one, two, ...rest] = claimed as [ClaimedDelivery, ClaimedDelivery, ...ClaimedDelivery[]];
    await finish(db, ended(one));
    await db.relaxedTransaction(() => claimsOn(db).giveBack(rest));
    expect(await outboxOf(db)).toEqual([]);
    expect(await queue.states()).toEqual({ delivered: 1, sending: 1, pending: 2 });
    expect(await finish(db, ended(two))).toMatchObject([{ after: { state: "delivered" } }]);
    const again = await claimAhead(db, to, 9);
    expect(again.map(({ id, attempt }) => [id, attempt])).toEqual(rest.map(({ id }) => [id, 1]));
  });

  test("is due at once when it is given back, although a server whose clock is ahead has stored it", async () => {
    const { db, to, claimed } = await claimRow(2, NOON + HOUR_MS);
    await db.relaxedTransaction(() => claimsOn(db).giveBack(claimed));
    expect(await claimAhead(db, to, 9)).toHaveLength(2);
  });

  test("that a server records at this moment loses no body when another recipient is deleted", async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const queue = await queueOn(db);
    const [to = "", gone = ""] = await queue.recipients(2);
    await queue.post(3);
    const claimed = await claimAhead(db, to, 3);
    const recording = await connectPlainly(address);
    await recording.query("BEGIN");
    await recording.query("SELECT number FROM outbox WHERE claimed_by IS NOT NULL FOR UPDATE");
    await deleteRecipient(db, gone, NOON);
    await recording.query("COMMIT");
    await recording.end();
    await db.relaxedTransaction(() => claimsOn(db).giveBack(claimed));
    const again = await claimAhead(db, to, 9);
    expect(again.map(({ body }) => body)).toEqual(claimed.map(({ body }) => body));
    expect(again).toHaveLength(3);
  });

  test("is free in a copy, which sends all that was not recorded", async () => {
    const { db, to, claimed } = await claimRow(4);
    const [done, ...rest] = claimed as [ClaimedDelivery, ...ClaimedDelivery[]];
    await finish(db, ended(done));
    const file = join(temporaryFolder(), "copy.db");
    const elsewhere = await temporaryPostgresql();
    await copyToFile(db, file, () => undefined);
    await copyToPostgresql(db, elsewhere, () => undefined);
    for (const copy of [openFileForTest(file), elsewhere]) {
      await using world = deliverOn(copy, [to]);
      await world.settle();
      expect(world.carried.map(({ id }) => id)).toEqual(rest.map(({ id }) => id));
      expect(await rowsOf(copy, "SELECT id FROM delivery WHERE state = 'delivered'")).toHaveLength(4);
    }
    expect(await outboxOf(db)).toEqual([[3, "one"]]);
  });

  test("gives back what this server does not know of, because it did not hear of the claim", async () => {
    const { db, queue, claimed } = await claimRow(3);
    const [own] = claimed as [ClaimedDelivery];
    await db.relaxedTransaction(() => claimsOn(db).giveBackUnknown([own.id]));
    expect(await queue.states()).toEqual({ sending: 1, pending: 2 });
    expect(await finish(db, ended(own))).toMatchObject([{ after: { state: "delivered" } }]);
  });

  test("goes to another server when its own was lost, and late results of that one are refused", async () => {
    const { db, queue, claimed } = await claimRow(3);
    const [done, late] = claimed as [ClaimedDelivery, ClaimedDelivery];
    await finish(db, ended(done));
    const recover = () =>
      db.transaction(function* () {
        return yield* recoverDeliveries(yield* claimsOn(db, "two").readAbandoned(), [PIGEON], NOON);
      });
    await db.transaction(() =>
      run(
        text(`INSERT INTO live_server (id, program, schema_version, started_at, seen_at)
          SELECT 'one', '1', 1, 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint`),
      ),
    );
    expect(await recover()).toBe(0);
    expect(await outboxOf(db)).toEqual([[2, "one"]]);
    await db.transaction(() => run(text("DELETE FROM live_server")));
    expect(await recover()).toBe(2);
    expect(await outboxOf(db)).toEqual([]);
    expect(await queue.states()).toEqual({ delivered: 1, pending: 2 });
    expect(await finish(db, ended(late))).toEqual([null]);
    const outcomes = (await attemptsOf(db)).map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(["delivered", "interrupted", "interrupted"]);
  });

  test("is taken over from a lost server by a few statements, however many messages it has", async () => {
    const { db, queue } = await claimRow(500);
    let statements = 0;
    await db.relaxedTransaction(function* () {
      const abandoned = yield* claimsOn(db, "two").readAbandoned();
      const steps = recoverDeliveries(abandoned, [PIGEON], NOON);
      let step = steps.next();
      for (; step.done !== true; statements += 1) step = steps.next(yield step.value);
      expect(step.value).toBe(500);
    });
    expect(statements).toBeLessThanOrEqual(3);
    expect(await queue.states()).toEqual({ pending: 500 });
    expect(await attemptsOf(db)).toHaveLength(500);
  });

  test("is no obstacle for a replay, which is refused for what is being sent", async () => {
    const { db, queue, claimed } = await claimRow(2);
    const [one, two] = claimed as [ClaimedDelivery, ClaimedDelivery];
    await expect(replayDelivery(db, one.id, { asNew: false, now: NOON })).rejects.toThrow("is being sent");
    expect(await queue.states()).toEqual({ sending: 2 });
    expect(await finish(db, ended(one), ended(two))).toMatchObject([{}, {}]);
    expect(await queue.states()).toEqual({ delivered: 2 });
  });

  test("records nothing about a submission that was deleted, nor about a recipient", async () => {
    const { db, queue, posted, claimed } = await claimRow(2);
    const [gone, kept] = claimed as [ClaimedDelivery, ClaimedDelivery];
    await erase(db, posted[0]!);
    const failed = { outcome: "failed", blame: "recipient" } as const;
    const records = await finish(db, ended(gone, failed), ended(kept));
    expect(records).toMatchObject([null, { after: { state: "delivered", breaker: { count: 0 } } }]);
    await db.relaxedTransaction(() => claimsOn(db).giveBackUnknown([]));
    expect(await outboxOf(db)).toEqual([]);
    await db.transaction(() => run(query.deleteFrom("recipient")));
    expect(await finish(db, ended(kept))).toEqual([null]);
    expect(await queue.states()).toEqual({});
  });
});
