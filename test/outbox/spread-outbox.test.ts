import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { run, type Steps, text } from "../../src/database/steps.ts";
import { joinLead, postpone } from "../../src/outbox/sending/gather-messages.ts";
import { spread } from "../../src/outbox/sending/spread-outbox.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { startLink } from "../support/faulty-link.ts";
import { claimsOn, erase, queueOn } from "../support/queue-on-engine.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

/** Runs steps in one transaction. Returns the number of statements. */
async function statementsOf(db: Database, work: () => Steps<unknown>): Promise<number> {
  let statements = 0;
  await db.transaction(function* () {
    const steps = work();
    for (let step = steps.next(); step.done !== true; statements += 1) step = steps.next(yield step.value);
  });
  return statements;
}

const COLUMNS = "recipient_id, submission_id, state, due_at, attempts";

describe.each(ENGINES)("messages that leave the outbox on $name", ({ temporary }) => {
  test("take a few statements, however many they are and in however many rows", async () => {
    const queue = await queueOn(await temporary());
    const [to = ""] = await queue.recipients(1);
    await queue.post(300);
    expect(await statementsOf(queue.db, () => postpone(to, NOON + HOUR_MS, NOON))).toBeLessThanOrEqual(4);
    await queue.post(300);
    expect(await statementsOf(queue.db, () => joinLead(to, NOON))).toBeLessThanOrEqual(5);
    await queue.post(300);
    expect(await statementsOf(queue.db, () => spread(500, NOON))).toBeLessThanOrEqual(3);
    expect(await queue.states()).toEqual({ pending: 900 });
    expect(await rowsOf(queue.db, "SELECT number FROM outbox")).toEqual([]);
  });

  test("become deliveries in whole rows, oldest first, each with its own state and time, without those of deleted posts", async () => {
    const queue = await queueOn(await temporary());
    const { db } = queue;
    const [one = "", other = ""] = await queue.recipients(2);
    const [first = "", deleted = "", third = ""] = await queue.post(3, NOON - 1000);
    await queue.gatherInOneRow();
    const [late = ""] = await queue.post(1, NOON + 1000);
    await erase(db, deleted);
    await db.transaction(() => run(text("UPDATE recipient SET state = 'disabled' WHERE id = ?", other)));
    expect(await db.transaction(() => spread(4, NOON))).toBe(6);
    expect(await db.transaction(() => spread(4, NOON))).toBe(2);
    expect(await db.transaction(() => spread(Number.POSITIVE_INFINITY, NOON))).toBe(0);
    const of = (recipient_id: string, state: string) =>
      [first, third, late].map((submission_id) => {
        const due_at = submission_id === late ? NOON : NOON - 1000;
        return { recipient_id, submission_id, state, due_at, attempts: 0 };
      });
    const rows = await rowsOf(db, `SELECT ${COLUMNS} FROM delivery ORDER BY recipient_id, submission_id`);
    expect(rows).toEqual([...of(one, "pending"), ...of(other, "held")]);
  });
});

describe.runIf(hasPostgresql)("over a slow network to PostgreSQL", () => {
  test("messages that are gathered for one recipient do not hold up those of another", async () => {
    const address = await temporaryAddress();
    const queue = await queueOn(await openForTest(address));
    const [gathering = "", other = ""] = await queue.recipients(2);
    await queue.post(400);
    await queue.db.transaction(() => run(text("DELETE FROM outbox WHERE recipient_id = ?", other)));
    await queue.post(1);
    const link = await startLink(address);
    const db = await openForTest(link.address);
    link.delay(25);
    const pace = {
      perMinute: 60,
      perRecipientPerHour: 30,
      perRecipientInWindow: { most: 1, seconds: 600 },
    };
    const begun = performance.now();
    await using world = deliverOn(db, [gathering, other], { policy: { pace }, claims: claimsOn(db) });
    await world.settle();
    // 401 messages with two statements each would take forty seconds.
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(world.carried.map(({ to }) => to).toSorted()).toEqual([gathering, other].toSorted());
  });

  test("a row that a server has claimed whole becomes deliveries that this server sends", async () => {
    const queue = await queueOn(await openForTest(await temporaryAddress()));
    const { db } = queue;
    const [to = ""] = await queue.recipients(1);
    await queue.post(2);
    await queue.gatherInOneRow();
    const wants = [{ recipientId: to, limit: 2, bytes: 1_000_000 }];
    await db.relaxedTransaction(() => claimsOn(db, "one").claimAhead(wants, NOON));
    await db.transaction(() => spread(500, NOON));
    expect(await rowsOf(db, "SELECT state, attempts, claimed_by FROM delivery")).toEqual([
      { state: "sending", attempts: 1, claimed_by: "one" },
      { state: "sending", attempts: 1, claimed_by: "one" },
    ]);
  });
});
