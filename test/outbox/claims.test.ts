import { describe, expect, test } from "vitest";
import { type Database, query } from "../../src/database/database.ts";
import { all, first, run } from "../../src/database/steps.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import { ended } from "../support/ended-attempt.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { claimsOn, erase, queueOn } from "../support/queue-on-engine.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import {
  hasPostgresql,
  openForTest,
  temporaryAddress,
  temporaryPostgresql,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

/** Who waits for somebody's lock in this database. */
const WAITING_SQL =
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

async function claim(db: Database, recipientId: string, limit: number, self = "one") {
  const wants = [{ recipientId, limit }];
  const claimed = await db.relaxedTransaction(() => claimsOn(db, self).claimDue(wants, NOON));
  return claimed.get(recipientId) ?? [];
}

function rowsOfDelivery(db: Database) {
  return db.read(() => all(query.selectFrom("delivery").selectAll().orderBy("id")));
}

describe.each(ENGINES)("claims on $name", ({ temporary }) => {
  test("due deliveries come first, then the outbox in order, with the bytes of their submissions, each once", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const posted = await queue.post(3);
    await spreadOutbox(db, NOON);
    posted.push(...(await queue.post(4)));
    const claimed = [...(await claim(db, to, 5)), ...(await claim(db, to, 5))];
    expect(await claim(db, to, 5)).toEqual([]);
    const told = claimed.map(({ body }) => JSON.parse(body) as { submission: { id: string; data: unknown } });
    expect(told.map(({ submission }) => submission.id)).toEqual(posted);
    expect(told[0]?.submission.data).toEqual({ message: "héllo 🙂" });
    expect(claimed[0]).toMatchObject({
      attempt: 1,
      spent: 0,
      isProbe: false,
      claimedAt: NOON,
      recipientId: to,
    });
    expect(await queue.states()).toEqual({ sending: 7 });
  });

  test("the messages of one transaction are claimed as few at a time as there are slots, each once", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const posted = await queue.post(40);
    await queue.gatherInOneRow();
    const claimed = [...(await claim(db, to, 10)), ...(await claim(db, to, 3)), ...(await claim(db, to, 40))];
    const told = claimed.map(({ body }) => JSON.parse(body) as { submission: { id: string } });
    const toldIds = told.map(({ submission }) => submission.id);
    expect(toldIds.slice(0, 10)).toEqual(posted.slice(0, 10));
    // The rest are due at one time, and each once.
    expect(toldIds.toSorted()).toEqual(posted.toSorted());
    expect(await queue.states()).toEqual({ sending: 40 });
    expect(await db.read(() => all(query.selectFrom("outbox").selectAll()))).toEqual([]);
  });

  test("the messages of a submission that was deleted are dropped, and others take their place", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const [, second = "", third = ""] = await queue.post(3);
    await erase(db, second);
    const claimed = [...(await claim(db, to, 2)), ...(await claim(db, to, 2))];
    expect(claimed).toHaveLength(2);
    expect(claimed[1]?.body).toContain(third);
  });

  test("many recipients get theirs at once, each up to what it wants", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const to = await queue.recipients(5);
    await queue.post(4);
    const wants = to.map((recipientId, index) => ({ recipientId, limit: index }));
    const claims = claimsOn(db);
    const claimed = await db.relaxedTransaction(() => claims.claimDue(wants.slice(1), NOON));
    expect(to.slice(1).map((id) => claimed.get(id)?.length)).toEqual([1, 2, 3, 4]);
    const due = await db.read(() => claims.earliestDue(to));
    expect(to.map((id) => due.get(id) ?? null)).toEqual([0, 0, 0, 0, null]);
    await spreadOutbox(db, NOON);
    const later = await db.read(() => claims.earliestDue(to));
    expect(to.map((id) => later.get(id) ?? null)).toEqual([NOON, NOON, NOON, NOON, null]);
  });

  test("a probe takes what waits longest, due or not, from the outbox too", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    await queue.post(1, NOON + 5000);
    await spreadOutbox(db, NOON + 5000);
    await queue.post(1, NOON + 9000);
    const probe = async () => {
      const [claimed] = await db.relaxedTransaction(() => claimsOn(db).claimProbe(to, NOON));
      return (
        claimed && {
          at: (JSON.parse(claimed.body) as { timestamp: string }).timestamp,
          ...claimed,
        }
      );
    };
    expect(await probe()).toMatchObject({
      at: new Date(NOON + 5000).toISOString(),
      isProbe: true,
      attempt: 1,
    });
    expect(await probe()).toMatchObject({
      at: new Date(NOON + 9000).toISOString(),
      isProbe: true,
      attempt: 1,
    });
    expect(await probe()).toBeUndefined();
    expect((await rowsOfDelivery(db)).map((row) => row.is_probe)).toEqual([1, 1]);
  });

  test("what is given back waits as if nobody had claimed it, unless it is another attempt's by then", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    await queue.post(2);
    const claimed = await claim(db, to, 2);
    const back = claimed.map((delivery, index) => ({ ...delivery, attempt: delivery.attempt + index }));
    await db.relaxedTransaction(() => claimsOn(db).giveBack(back));
    expect(await queue.states()).toEqual({ pending: 1, sending: 1 });
    expect((await claim(db, to, 2)).map(({ id, attempt }) => [id, attempt])).toEqual([[claimed[0]?.id, 1]]);
  });

  test("what a clock ahead of this one has stored is due at once, given back or waiting as a delivery too", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    await queue.post(4, NOON + HOUR_MS);
    await queue.gatherInOneRow();
    const [delivery] = await claim(db, to, 1);
    await db.relaxedTransaction(() => claimsOn(db).giveBack([delivery!]));
    expect(await claim(db, to, 9)).toHaveLength(4);
    await queue.post(1, NOON + HOUR_MS);
    await spreadOutbox(db, NOON);
    expect(await claim(db, to, 9)).toHaveLength(1);
  });

  test("results are recorded with their attempts, and move the breaker one after the other", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [one = "", two = ""] = await queue.recipients(2);
    await queue.post(2);
    const [first1, second1] = await claim(db, one, 2);
    const [first2] = await claim(db, two, 1);
    const said = {
      outcome: "failed",
      blame: "recipient",
      message: "No\0 \ud83d",
      answer: "half \ude00 \0",
      status: 500,
    } as const;
    const attempts = [ended(first1!, said), ended(first2!), ended(second1!, said)];
    const records = await db.relaxedTransaction(() => claimsOn(db).finish(attempts, NOON + 10));
    expect(records.map((record) => record?.after.state)).toEqual(["pending", "delivered", "pending"]);
    expect(records[2]).toMatchObject({ before: "enabled", after: { breaker: { state: "open", count: 0 } } });
    const recipients = await db.read(() => all(query.selectFrom("recipient").selectAll().orderBy("id")));
    expect(recipients).toMatchObject([
      { id: one, breaker: "open", failing_since: NOON + 10 },
      { id: two, breaker: "closed", failing_since: null },
    ]);
    const rows = new Map((await rowsOfDelivery(db)).map((row) => [row.id, row]));
    expect(rows.get(first1!.id)).toMatchObject({
      state: "pending",
      spent: 1,
      attempts: 1,
      claimed_at: null,
      last_status: 500,
    });
    expect(rows.get(first2!.id)).toMatchObject({
      state: "delivered",
      finished_at: NOON + 10,
      last_status: 200,
    });
    const made = await db.read(() => all(query.selectFrom("attempt").selectAll().orderBy("delivery_id")));
    expect(made).toHaveLength(3);
    expect(made.find((row) => row.delivery_id === first1!.id)).toMatchObject({
      number: 1,
      started_at: NOON,
      outcome: "failed",
    });
    expect(made.find((row) => row.delivery_id === first2!.id)).toMatchObject({ message: null, status: 200 });
  });

  test("a result that comes after the delivery went to somebody else, or was deleted, changes nothing", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const [, erased = ""] = await queue.post(2);
    const [late, gone] = await claim(db, to, 2);
    await erase(db, erased);
    await db.transaction(() =>
      run(query.updateTable("delivery").set({ attempts: 2 }).where("id", "=", late!.id)),
    );
    const failed = { outcome: "failed", blame: "recipient" } as const;
    const attempts = [ended(late!, failed), ended(gone!, failed)];
    expect(await db.relaxedTransaction(() => claimsOn(db).finish(attempts, NOON))).toEqual([null, null]);
    expect(await db.read(() => all(query.selectFrom("attempt").selectAll()))).toEqual([]);
    const recipient = await db.read(() => first(query.selectFrom("recipient").selectAll()));
    expect(recipient).toMatchObject({ breaker_count: 0, failing_since: null });
  });

  test("a result that comes too late does not count for those that are recorded with it", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    await queue.post(2);
    const [late, own] = await claim(db, to, 2);
    await db.transaction(() =>
      run(query.updateTable("delivery").set({ attempts: 2 }).where("id", "=", late!.id)),
    );
    const failed = { outcome: "failed", blame: "recipient" } as const;
    const attempts = [ended(late!, failed), ended(own!, failed)];
    const records = await db.relaxedTransaction(() => claimsOn(db).finish(attempts, NOON));
    const after = { state: "pending", spent: 1, breaker: { state: "closed", count: 1 } };
    expect(records).toMatchObject([null, { before: "enabled", after }]);
    const recipient = await db.read(() => first(query.selectFrom("recipient").selectAll()));
    expect(recipient).toMatchObject({ breaker: "closed", breaker_count: 1 });
    const rows = new Map((await rowsOfDelivery(db)).map((row) => [row.id, row]));
    expect([rows.get(late!.id)?.state, rows.get(own!.id)?.state]).toEqual(["sending", "pending"]);
  });
});

describe.runIf(hasPostgresql)("claims of two servers on PostgreSQL", () => {
  test.each([
    ["claimDue", "claimDue"],
    ["claimDue", "claimAhead"],
    ["claimAhead", "claimAhead"],
  ] as const)("at the same moment no message is claimed twice, and none is left: %s, %s", async (...how) => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const queue = await queueOn(db);
    const to = await queue.recipients(4);
    await queue.post(50);
    await spreadOutbox(db, NOON);
    await queue.post(30);
    await queue.gatherInOneRow();
    const claimAll = async (self: "one" | "two"): Promise<string[]> => {
      const other = await openForTest(address);
      const claims = claimsOn(db, self);
      const claimSome = claims[how[self === "one" ? 0 : 1]];
      const claimed: string[] = [];
      // The messages of a row: a row is claimed ahead as a whole or not at all.
      const wants = to.map((recipientId) => ({ recipientId, limit: 30, bytes: 1e6 }));
      for (;;) {
        const some = await other.relaxedTransaction(() => claimSome(wants, NOON));
        const found = [...some.values()].flat().map(({ id }) => id);
        claimed.push(...found);
        const { pending = 0 } = await queue.states();
        const free = await rowsOf(db, "SELECT number FROM outbox WHERE claimed_by IS NULL");
        if (found.length === 0 && pending + free.length === 0) return claimed;
      }
    };
    const claimed = (await Promise.all([claimAll("one"), claimAll("two")])).flat();
    expect(claimed).toHaveLength(320);
    expect(new Set(claimed).size).toBe(320);
    await spreadOutbox(db, NOON);
    expect(await queue.states()).toEqual({ sending: 320 });
  });

  test("a server can neither record nor give back what another one has claimed", async () => {
    const db = await temporaryPostgresql();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    await queue.post(1);
    const [delivery] = await claim(db, to, 1, "one");
    const other = claimsOn(db, "two");
    expect(await db.relaxedTransaction(() => other.finish([ended(delivery!)], NOON))).toEqual([null]);
    await db.relaxedTransaction(() => other.giveBack([delivery!]));
    expect(await rowsOfDelivery(db)).toMatchObject([{ state: "sending", attempts: 1, claimed_by: "one" }]);
    const [record] = await db.relaxedTransaction(() => claimsOn(db, "one").finish([ended(delivery!)], NOON));
    expect(record?.after.state).toBe("delivered");
    expect(await rowsOfDelivery(db)).toMatchObject([{ state: "delivered", claimed_by: null }]);
  });

  test("a recipient that its owner disables while an attempt is recorded stays disabled", async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    await queue.post(1);
    const [delivery] = await claim(db, to, 1);
    const owner = await connectPlainly(address);
    await owner.query("BEGIN");
    await owner.query("UPDATE recipient SET state = 'disabled'");
    const failed = { outcome: "failed", blame: "recipient" } as const;
    const recording = db.relaxedTransaction(() => claimsOn(db).finish([ended(delivery!, failed)], NOON));
    await until(async () => (await rowsOf(db, WAITING_SQL)).length > 0);
    await owner.query("COMMIT");
    await owner.end();
    expect(await recording).toMatchObject([{ before: "disabled", after: { state: "held" } }]);
    const recipient = await db.read(() => first(query.selectFrom("recipient").selectAll()));
    expect(recipient).toMatchObject({ state: "disabled", breaker_count: 1 });
  });
});
