import { describe, expect, test } from "vitest";
import { type Database, query } from "../../src/database/database.ts";
import { all, run, text } from "../../src/database/steps.ts";
import { ended } from "../support/ended-attempt.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { claimsOn, queueOn } from "../support/queue-on-engine.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";
import { ANSWERED } from "../support/webhook-world.ts";

/** Enough that most of them are claimed as whole rows after the first quick answers. */
const MESSAGES = 60;
/** Attempts at once of one recipient. */
const IN_FLIGHT = 4;

const FAILED = { ...ANSWERED, outcome: "failed", blame: "recipient", status: 500 } as const;

/** A recipient that messages wait for, each in a row of the outbox, and the only server that lives: `one`. */
async function waiting() {
  const db = await temporaryPostgresql();
  const queue = await queueOn(db);
  const [to = ""] = await queue.recipients(1);
  await queue.post(MESSAGES);
  await db.transaction(() =>
    run(
      text(`INSERT INTO live_server (id, program, schema_version, started_at, seen_at)
        SELECT 'one', '1', 1, 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 3600000`),
    ),
  );
  return { db, queue, to };
}

const claimedRowsOf = (db: Database) => rowsOf(db, "SELECT number FROM outbox WHERE claimed_by IS NOT NULL");

function switchRecipient(db: Database, state: "enabled" | "disabled") {
  return db.transaction(() => run(query.updateTable("recipient").set({ state })));
}

describe.runIf(hasPostgresql)("rows of the outbox that were claimed whole", () => {
  test("by a server that was killed go out by another one, but for what was recorded", async () => {
    const { db, queue, to } = await waiting();
    const wants = [{ recipientId: to, limit: MESSAGES, bytes: 1e6 }];
    const killed = claimsOn(db, "killed");
    const claimed = (await db.relaxedTransaction(() => killed.claimAhead(wants, NOON))).get(to) ?? [];
    expect(claimed).toHaveLength(MESSAGES);
    const [recorded, ...rest] = claimed;
    await db.relaxedTransaction(() => killed.finish([ended(recorded!)], NOON));
    await using one = deliverOn(db, [to]);
    await one.settle();
    expect(await queue.states()).toEqual({ delivered: 1, pending: MESSAGES - 1 });
    // Later, because the process may have been ended by one of them.
    await expect
      .poll(async () => (await one.settle(60_000), queue.states()))
      .toEqual({ delivered: MESSAGES });
    expect(one.carried.map(({ id }) => id).toSorted()).toEqual(rest.map(({ id }) => id).toSorted());
    expect(await claimedRowsOf(db)).toEqual([]);
    const attempts = await db.read(() => all(query.selectFrom("attempt").select("outcome")));
    expect(attempts.filter(({ outcome }) => outcome === "interrupted")).toHaveLength(MESSAGES - 1);
    expect(attempts.filter(({ outcome }) => outcome === "delivered")).toHaveLength(MESSAGES);
  });

  test("go back when the recipient fails, and go out when it is back, none of them failed", async () => {
    const { db, queue, to } = await waiting();
    let [isDown, isBack] = [false, false];
    await using one = deliverOn(db, [to], {
      answer: () => {
        if (one.carried.length > IN_FLIGHT && !isBack) isDown = true;
        return isDown ? FAILED : ANSWERED;
      },
    });
    for (let minute = 0; minute < 3; minute += 1) await one.settle(60_000);
    expect(await queue.states()).toEqual({ delivered: IN_FLIGHT, pending: expect.any(Number) as number });
    expect(await claimedRowsOf(db)).toEqual([]);
    [isBack, isDown] = [true, false];
    await expect
      .poll(async () => (await one.settle(60_000), queue.states()))
      .toEqual({ delivered: MESSAGES });
  });

  test("are held while the recipient is disabled, and each goes out once afterwards", async () => {
    const { db, queue, to } = await waiting();
    let disabling: Promise<void> | null = null;
    const disable = async (): Promise<void> => {
      await switchRecipient(db, "disabled");
      one.deliverer.reload();
    };
    await using one = deliverOn(db, [to], {
      answer: async () => {
        if (one.carried.length > IN_FLIGHT) await (disabling ??= disable());
        return ANSWERED;
      },
    });
    await expect.poll(async () => (await one.settle(), disabling !== null)).toBe(true);
    await one.settle();
    const { delivered = 0, sending = 0, pending = 0 } = await queue.states();
    expect([sending, pending]).toEqual([0, 0]);
    // A round that was under way has begun a few more.
    expect(delivered).toBeLessThan(MESSAGES / 2);
    expect(await claimedRowsOf(db)).toEqual([]);
    await switchRecipient(db, "enabled");
    await expect.poll(async () => (await one.settle(), queue.states())).toEqual({ delivered: MESSAGES });
    expect(one.carried).toHaveLength(MESSAGES);
    expect(new Set(one.carried.map(({ id }) => id)).size).toBe(MESSAGES);
  });
});
