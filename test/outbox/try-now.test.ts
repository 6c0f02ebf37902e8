import { describe, expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all } from "../../src/database/steps.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { tryNow } from "../../src/outbox/queue/try-now.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { ENGINES } from "../support/engines.ts";
import { queueOn } from "../support/queue-on-engine.ts";
import { ANSWERED } from "../support/webhook-world.ts";

const FAILED: AttemptResult = { ...ANSWERED, outcome: "failed", blame: "recipient", status: 500 };
const PACE = { perMinute: 60, perRecipientPerHour: 30, perRecipientInWindow: { most: 2, seconds: 600 } };

describe.each(ENGINES)("trying now on $name", ({ temporary }) => {
  test("brings the next attempts forward, a probe too, and leaves others alone", async () => {
    const queue = await queueOn(await temporary());
    const [to = "", other = ""] = await queue.recipients(2);
    await queue.post(1);
    let fails = true;
    await using world = deliverOn(queue.db, [to, other], {
      policy: { scheduleSeconds: [60, 60, 60, 60, 60] },
      answer: (carried) => (fails || carried.to === other ? FAILED : ANSWERED),
    });
    const tried = (id: string): number => world.carried.filter((carried) => carried.to === id).length;
    const askFor = (id: string) => queue.db.transaction(() => tryNow(id, world.clock.now()));
    await world.settle();
    expect([tried(to), tried(other)]).toEqual([1, 1]);
    await askFor(to);
    await world.settle();
    expect([tried(to), tried(other)]).toEqual([2, 1]);
    await askFor(to);
    await world.settle();
    const breakers = await queue.db.read(() => all(query.selectFrom("recipient").select(["id", "breaker"])));
    expect(breakers.find(({ id }) => id === to)?.breaker).toBe("open");
    fails = false;
    await askFor(to);
    await world.settle();
    expect([tried(to), tried(other)]).toEqual([4, 1]);
    expect(await queue.states()).toEqual({ delivered: 1, pending: 1 });
  });

  test("sends nothing that is gathered before its time", async () => {
    const queue = await queueOn(await temporary());
    const [to = ""] = await queue.recipients(1);
    await queue.post(5);
    await using world = deliverOn(queue.db, [to], { policy: { pace: PACE } });
    await world.settle();
    expect(world.carried).toHaveLength(2);
    await queue.db.transaction(() => tryNow(to, world.clock.now()));
    await world.settle();
    expect(world.carried).toHaveLength(2);
  });
});
