import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all, run } from "../../src/database/steps.ts";
import { addPigeons } from "../support/pigeons.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { ANSWERED, WebhookWorld } from "../support/webhook-world.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const CLOSED: AttemptResult = {
  ...ANSWERED,
  outcome: "closed",
  blame: "destination",
  message: "The loft is closed.",
  status: null,
};
const POLICY = { scheduleSeconds: [60, 60, 60], probeSeconds: [60, 600], afterUnsure: null };

function faults(world: WebhookWorld) {
  return world.db.now(() => all(query.selectFrom("place_fault").selectAll()));
}

test("a place that is closed for 7 days costs no message an attempt, and then all of them arrive", async () => {
  await using world = new WebhookWorld();
  let isClosed = true;
  let sent = 0;
  const pigeons = addPigeons(
    world,
    () => {
      sent += 1;
      return Promise.resolve(isClosed ? CLOSED : ANSWERED);
    },
    { count: 5, policy: POLICY },
  );
  world.deliverer.start();
  const startedAt = world.clock.now();
  for (let day = 0; day < 7; day += 1) {
    world.post(20);
    await world.runUntil(startedAt + (day + 1) * DAY_MS);
  }
  expect(world.states()).toEqual({ pending: 700 });
  // A probe every ten minutes, whatever the number of recipients and messages.
  expect(sent).toBeLessThan(7 * 144 + 5);
  expect(sent).toBeGreaterThan(7 * 140);
  const spent = query.selectFrom("delivery").select("spent").where("spent", ">", 0);
  expect(world.db.now(() => all(spent))).toEqual([]);
  const refusing = query.selectFrom("recipient").selectAll().where("failing_since", "is not", null);
  expect(world.db.now(() => all(refusing))).toEqual([]);
  isClosed = false;
  await world.runUntil(world.clock.now() + 20 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 700 });
  expect(pigeons.reports.filter((outcome) => outcome === "delivered")).toHaveLength(700);
  expect(world.inconsistencies()).toEqual([]);
});

test("a place that was closed while the clock was ahead is asked no later when the clock is set back", async () => {
  await using world = new WebhookWorld();
  let isClosed = true;
  addPigeons(world, () => Promise.resolve(isClosed ? CLOSED : ANSWERED), { policy: POLICY });
  world.deliverer.start();
  world.post(2);
  await world.settle();
  isClosed = false;
  world.clock.advance(-20 * HOUR_MS);
  await world.runUntil(world.clock.now() + 2 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 2 });
});

test("messages that are gathered for an hour go after that hour, also if the clock is set back meanwhile", async () => {
  await using world = new WebhookWorld();
  const pace = { perMinute: 60, perRecipientPerHour: 30, perRecipientInWindow: { most: 10, seconds: 600 } };
  const policy = { ...POLICY, pace };
  addPigeons(world, () => Promise.resolve(ANSWERED), { policy, gatherSeconds: 3600 });
  world.deliverer.start();
  world.post(2);
  await world.settle();
  world.clock.advance(-20 * HOUR_MS);
  await world.runUntil(world.clock.now() + 59 * MINUTE_MS);
  expect(world.states()).toEqual({ pending: 2 });
  await world.runUntil(world.clock.now() + 2 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 2 });
});

test("one message at a time asks whether a place is back, and those of webhooks go on meanwhile", async () => {
  await using world = new WebhookWorld();
  const underWay: (() => void)[] = [];
  let isClosed = true;
  addPigeons(
    world,
    () => new Promise((resolve) => underWay.push(() => resolve(isClosed ? CLOSED : ANSWERED))),
    { count: 4, policy: POLICY },
  );
  world.deliverer.start();
  world.post(3);
  const arrive = async (expected: number): Promise<void> => {
    await expect.poll(() => underWay.length).toBe(expected);
    for (const finish of underWay.splice(0)) finish();
    await world.settle();
  };
  // Two were under way when the first failed; the second of them does not make the wait longer.
  const startedAt = world.clock.now();
  await arrive(2);
  expect(world.deliverer.nextWakeAt()).toBe(startedAt + MINUTE_MS);
  world.clock.advance(MINUTE_MS);
  world.deliverer.wake();
  await arrive(1);
  expect(world.deliverer.nextWakeAt()).toBe(startedAt + 11 * MINUTE_MS);
  isClosed = false;
  world.clock.advance(10 * MINUTE_MS);
  world.deliverer.wake();
  const atOnce: number[] = [];
  await expect
    .poll(() => {
      if (underWay.length > 0) atOnce.push(underWay.length);
      for (const finish of underWay.splice(0)) finish();
      return world.states();
    })
    .toEqual({ delivered: 12 });
  expect(atOnce[0]).toBe(1);
  expect(Math.max(...atOnce)).toBe(2);
});

test("a place's fault is written down while it lasts, with its reason and its next probe", async () => {
  await using world = new WebhookWorld();
  let result = CLOSED;
  addPigeons(world, () => Promise.resolve(result), { policy: POLICY });
  world.deliverer.start();
  world.post();
  const startedAt = world.clock.now();
  await world.settle();
  const row = { kind: "pigeon", place: "loft", since: startedAt, message: "The loft is closed." };
  expect(faults(world)).toEqual([{ ...row, next_probe_at: startedAt + MINUTE_MS }]);
  result = { ...CLOSED, message: "The keeper sleeps." };
  await world.runUntil(startedAt + MINUTE_MS);
  expect(faults(world)).toEqual([
    { ...row, message: "The keeper sleeps.", next_probe_at: startedAt + 11 * MINUTE_MS },
  ]);
  result = { ...ANSWERED, outcome: "put off", blame: "recipient", status: 450 };
  await world.runUntil(startedAt + 11 * MINUTE_MS);
  expect(faults(world)).toEqual([]);
});

test("a new process tries at once, and what an earlier one knew of a place is forgotten", async () => {
  await using world = new WebhookWorld();
  let result = CLOSED;
  const pigeons = addPigeons(world, () => Promise.resolve(result), { policy: POLICY });
  pigeons.deliverer.start();
  world.post();
  await world.settle();
  await pigeons.deliverer.stop(0);
  expect(faults(world)).toHaveLength(1);
  result = ANSWERED;
  const next = pigeons.restart();
  await next.recover();
  expect(faults(world)).toEqual([]);
  next.start();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 1 });
});

test("a clock that is set back does not keep a place waiting for longer than its wait", async () => {
  await using world = new WebhookWorld();
  let result = CLOSED;
  const { deliverer } = addPigeons(world, () => Promise.resolve(result), { policy: POLICY });
  world.deliverer.start();
  world.post();
  await world.settle();
  world.clock.advance(-400 * DAY_MS);
  result = ANSWERED;
  deliverer.reload();
  await world.runUntil(world.clock.now() + 2 * DAY_MS);
  expect(world.states()).toEqual({ delivered: 1 });
});

test("nothing is queued for a recipient whose address is not confirmed", async () => {
  await using world = new WebhookWorld();
  const { ids, deliverer } = addPigeons(world, () => Promise.resolve(ANSWERED), { count: 2 });
  const [first = "", second = ""] = ids;
  const confirm = (id: string, at: number | null) =>
    world.db.now(() => run(query.updateTable("recipient").set({ confirmed_at: at }).where("id", "=", id)));
  confirm(second, null);
  deliverer.start();
  world.post(3);
  await world.settle();
  confirm(second, 5);
  deliverer.reload();
  await world.settle();
  world.post(1);
  await world.settle();
  const to = (id: string) => query.selectFrom("delivery").select("id").where("recipient_id", "=", id);
  expect(world.db.now(() => all(to(first)))).toHaveLength(4);
  expect(world.db.now(() => all(to(second)))).toHaveLength(1);
});
