import { describe, expect, test } from "vitest";
import { countAction, type LimitedAction } from "../../src/outbox/queue/account-limits.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

describe.each(ENGINES)("what an account causes, counted in $name", ({ temporary }) => {
  test.each<[LimitedAction, boolean, number]>([
    ["test", false, 60],
    ["test", true, 600],
    ["replay-as-new", false, 100],
    ["replay-as-new", true, 1000],
  ])(
    "%s (operator: %s): %i within an hour, and room again when the first is an hour old",
    async (action, isOperator, most) => {
      const db = await temporary();
      const account = { accountId: "acc_1", isOperator };
      const take = (messages: number, now: number, accountId = "acc_1") =>
        db.transaction(() => countAction({ ...account, accountId }, action, messages, now));
      await take(most - 1, NOON);
      await take(1, NOON + 60_000);
      const refused = { code: "rate_limited", facts: { retryAfterSeconds: 3480 } };
      await expect(take(1, NOON + 120_000)).rejects.toMatchObject(refused);
      await take(1, NOON + 120_000, "acc_2");
      await take(1, NOON + HOUR_MS);
    },
  );

  test("of many at once only as many pass as the hour has room for", async () => {
    const db = await temporary();
    const account = { accountId: "acc_1", isOperator: false };
    await db.transaction(() => countAction(account, "test", 50, NOON));
    const ended = await Promise.allSettled(
      Array.from({ length: 20 }, () => db.transaction(() => countAction(account, "test", 1, NOON))),
    );
    const refused = ended.filter(
      (each) =>
        each.status === "rejected" && /in an hour, an account sends 60 tests/.test(String(each.reason)),
    );
    const taken = ended.filter(({ status }) => status === "fulfilled").length;
    // On PostgreSQL one may be told to try again, because too many were in its way.
    expect(taken).toBeLessThanOrEqual(10);
    expect(taken + refused.length).toBeGreaterThan(10);
  });

  test("one action about many messages is done whole if it begins within the limit, and counts all of them", async () => {
    const db = await temporary();
    const account = { accountId: "acc_1", isOperator: false };
    await db.transaction(() => countAction(account, "replay-as-new", 99, NOON));
    await db.transaction(() => countAction(account, "replay-as-new", 1000, NOON));
    await expect(db.transaction(() => countAction(account, "replay-as-new", 1, NOON))).rejects.toMatchObject({
      code: "rate_limited",
    });
  });

  test("after an action about many messages, the time that is named is the one at which the next is done", async () => {
    const db = await temporary();
    const account = { accountId: "acc_1", isOperator: false };
    const take = (messages: number, now: number) =>
      db.transaction(() => countAction(account, "replay-as-new", messages, now));
    await take(99, NOON);
    await take(1000, NOON + 60_000);
    const freeAt = NOON + 60_000 + HOUR_MS;
    const refused = { code: "rate_limited", facts: { retryAfterSeconds: (freeAt - NOON - 120_000) / 1000 } };
    await expect(take(1, NOON + 120_000)).rejects.toMatchObject(refused);
    await expect(take(1, freeAt - 1)).rejects.toMatchObject({ code: "rate_limited" });
    await take(1, freeAt);
  });
});
