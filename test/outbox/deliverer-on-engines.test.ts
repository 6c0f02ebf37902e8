import { describe, expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all, run } from "../../src/database/steps.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { type EngineQueue, queueOn } from "../support/queue-on-engine.ts";
import { ANSWERED } from "../support/webhook-world.ts";

const PACE = { perMinute: 60, perRecipientPerHour: 30, perRecipientInWindow: { most: 2, seconds: 600 } };
const FAILED: AttemptResult = { ...ANSWERED, outcome: "failed", blame: "recipient", status: 500 };

async function attemptsPerDelivery(queue: EngineQueue): Promise<number[]> {
  const rows = await queue.db.read(() => all(query.selectFrom("delivery").select("attempts").orderBy("id")));
  return rows.map(({ attempts }) => attempts);
}

describe.each(ENGINES)("a deliverer on $name", ({ temporary }) => {
  test("sends each message of the outbox and each delivery once, to each recipient", async () => {
    const queue = await queueOn(await temporary());
    const to = await queue.recipients(3);
    await queue.post(30);
    await spreadOutbox(queue.db, NOON);
    await queue.post(40);
    await using world = deliverOn(queue.db, to);
    await world.settle();
    expect(await queue.states()).toEqual({ delivered: 210 });
    expect(new Set(world.carried.map(({ id }) => id)).size).toBe(210);
    expect(world.carried).toHaveLength(210);
    expect(await attemptsPerDelivery(queue)).toEqual(Array.from({ length: 210 }, () => 1));
  });

  test("tries again as soon as planned if the clock is set back meanwhile", async () => {
    const queue = await queueOn(await temporary());
    const to = await queue.recipients(1);
    let isDown = true;
    await queue.post(1);
    await using world = deliverOn(queue.db, to, { answer: () => (isDown ? FAILED : ANSWERED) });
    await world.settle();
    isDown = false;
    await world.settle(-20 * HOUR_MS);
    expect(await queue.states()).toEqual({ pending: 1 });
    await world.settle(HOUR_MS);
    expect(await queue.states()).toEqual({ delivered: 1 });
  });

  test("probes a recipient that fails, and delivers everything when it is back", async () => {
    const queue = await queueOn(await temporary());
    const [to = ""] = await queue.recipients(1);
    let isDown = true;
    await queue.post(6);
    await using world = deliverOn(queue.db, [to], { answer: () => (isDown ? FAILED : ANSWERED) });
    for (let minute = 0; minute < 5; minute += 1) await world.settle(60_000);
    expect(await queue.states()).toEqual({ pending: 6 });
    const probes = await queue.db.read(() => all(query.selectFrom("attempt").select("is_probe")));
    expect(probes.filter((row) => row.is_probe === 1).length).toBeGreaterThan(2);
    isDown = false;
    for (let minute = 0; minute < 3; minute += 1) await world.settle(60_000);
    expect(await queue.states()).toEqual({ delivered: 6 });
  });

  test("gathers what comes beyond the pace, and repeats a summary as it was", async () => {
    const queue = await queueOn(await temporary());
    const [to = ""] = await queue.recipients(1);
    await queue.post(7);
    let isFirst = true;
    await using world = deliverOn(queue.db, [to], {
      policy: { pace: PACE },
      answer: ({ count }) => {
        const fails = count > 1 && isFirst;
        if (fails) isFirst = false;
        return fails ? FAILED : ANSWERED;
      },
    });
    await world.settle();
    expect(world.carried.map(({ count }) => count)).toEqual([1, 1]);
    await world.settle(600_000);
    await world.settle(60_000);
    expect(world.carried.slice(2)).toMatchObject([
      { count: 5, bodies: 5 },
      { count: 5, bodies: 5 },
    ]);
    expect(world.carried[2]?.id).toBe(world.carried[3]?.id);
    expect(await queue.states()).toEqual({ delivered: 7 });
  });

  test("holds the messages of a recipient that is disabled meanwhile", async () => {
    const queue = await queueOn(await temporary());
    const [to = ""] = await queue.recipients(1);
    await queue.post(10);
    const disable = query.updateTable("recipient").set({ state: "disabled" });
    await using world = deliverOn(queue.db, [to], {
      answer: async () => {
        await queue.db.transaction(() => run(disable));
        world.deliverer.reload();
        return FAILED;
      },
    });
    await spreadOutbox(queue.db, NOON);
    await world.settle();
    const { held = 0, ...others } = await queue.states();
    expect([held, others]).toEqual([10, {}]);
    expect(world.carried.length).toBeLessThanOrEqual(8);
  });
});
