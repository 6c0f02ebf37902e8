import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all, first, run } from "../../src/database/steps.ts";
import { alignDeliveries } from "../../src/outbox/queue/align-deliveries.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { countReplayable, replayDelivery, replayRange } from "../../src/outbox/queue/replay-deliveries.ts";
import type { AttemptResult, DeliveryPolicy, Message } from "../../src/outbox/sending/transport.ts";
import { addPigeons } from "../support/pigeons.ts";
import { ANSWERED, WebhookWorld } from "../support/webhook-world.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const PUT_OFF: AttemptResult = { ...ANSWERED, outcome: "put off", blame: "recipient", status: 450 };
const PACED: Partial<DeliveryPolicy> = {
  scheduleSeconds: [60, 60, 60, 60],
  failuresUntilProbes: Number.POSITIVE_INFINITY,
  afterUnsure: { delaySeconds: 1800, most: 1 },
  pace: { perMinute: 60, perRecipientPerHour: 30, perRecipientInWindow: { most: 10, seconds: 600 } },
};

interface Carried {
  readonly id: string;
  readonly to: string;
  /** Of the submissions that it is about. */
  readonly numbers: readonly unknown[];
  readonly count: number;
  readonly at: number;
}

/** Recipients with a pace; what each attempt carried is kept. */
function addPaced(
  world: WebhookWorld,
  options: { count?: number; gatherSeconds?: number; policy?: Partial<DeliveryPolicy> } = {},
) {
  const carried: Carried[] = [];
  let answer: (carried: Carried) => AttemptResult = () => ANSWERED;
  const numberOf = (body: string): unknown =>
    (JSON.parse(body) as { submission: { data: { n?: number } } }).submission.data.n;
  const send = (message: Message, to: string): Promise<AttemptResult> => {
    const { id, body, memberBodies, memberIds } = message;
    const numbers = [body, ...memberBodies].map(numberOf);
    carried.push({ id, to, numbers, count: memberIds.length + 1, at: world.clock.now() });
    return Promise.resolve(answer(carried.at(-1)!));
  };
  const { count = 1, gatherSeconds = null, policy = {} } = options;
  const pigeons = addPigeons(world, send, { count, gatherSeconds, policy: { ...PACED, ...policy } });
  return { ...pigeons, carried, answerWith: (next: typeof answer) => void (answer = next) };
}

async function postNumbered(world: WebhookWorld, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n += 1) {
    world.post(1, { n });
    await world.settle();
  }
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("twenty posts in a minute give ten messages at once and one summary of the others after ten minutes", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer } = addPaced(world);
  deliverer.start();
  const startedAt = world.clock.now();
  await postNumbered(world, 1, 12);
  world.clock.advance(MINUTE_MS);
  await postNumbered(world, 13, 20);
  expect(carried.map((each) => each.numbers)).toEqual(numbers(1, 10).map((n) => [n]));
  const waiting = query.selectFrom("delivery").select("due_at").where("state", "=", "pending");
  expect(new Set(world.db.now(() => all(waiting)).map((row) => row.due_at))).toEqual(
    new Set([startedAt + 10 * MINUTE_MS]),
  );
  await world.runUntil(startedAt + 2 * HOUR_MS);
  expect(carried).toHaveLength(11);
  expect(carried[10]).toMatchObject({ numbers: numbers(11, 20), at: startedAt + 10 * MINUTE_MS });
  expect(world.states()).toEqual({ delivered: 20 });
  expect(world.inconsistencies()).toEqual([]);
});

test("the flood of one recipient holds up no other", async () => {
  await using world = new WebhookWorld();
  const { ids, carried, deliverer } = addPaced(world, { count: 2 });
  deliverer.start();
  const [first = "", second = ""] = ids;
  const confirm = (at: number | null): void => {
    world.db.now(() =>
      run(query.updateTable("recipient").set({ confirmed_at: at }).where("id", "=", second)),
    );
    world.outbox.forget();
    deliverer.reload();
  };
  confirm(null);
  await postNumbered(world, 1, 15);
  confirm(1);
  await postNumbered(world, 16, 16);
  expect(carried.filter(({ to }) => to === first)).toHaveLength(10);
  expect(carried.filter(({ to }) => to === second).map((each) => each.numbers)).toEqual([[16]]);
});

test("messages of an hour are gathered from the first one on, and a single one goes by itself", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer } = addPaced(world, { gatherSeconds: 3600 });
  deliverer.start();
  const startedAt = world.clock.now();
  await postNumbered(world, 1, 3);
  await world.runUntil(startedAt + 30 * MINUTE_MS);
  await postNumbered(world, 4, 5);
  expect(carried).toEqual([]);
  await world.runUntil(startedAt + 90 * MINUTE_MS);
  expect(carried).toMatchObject([{ numbers: numbers(1, 5), at: startedAt + HOUR_MS }]);
  await postNumbered(world, 6, 6);
  await world.runUntil(startedAt + 4 * HOUR_MS);
  expect(carried[1]).toMatchObject({ numbers: [6], count: 1, at: startedAt + 90 * MINUTE_MS + HOUR_MS });
  expect(carried).toHaveLength(2);
});

test("if all that was gathered is deleted, what comes later is gathered from its own first message on", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer } = addPaced(world, { gatherSeconds: 3600 });
  deliverer.start();
  const startedAt = world.clock.now();
  const [id = ""] = world.post(1, { n: 1 });
  await world.settle();
  world.db.now(() => run(query.deleteFrom("submission").where("id", "=", id)));
  deliverer.reload();
  await world.runUntil(startedAt + 90 * MINUTE_MS);
  await postNumbered(world, 2, 2);
  await world.runUntil(startedAt + 120 * MINUTE_MS);
  await postNumbered(world, 3, 3);
  await world.runUntil(startedAt + 4 * HOUR_MS);
  expect(carried).toMatchObject([{ numbers: [2, 3], at: startedAt + 150 * MINUTE_MS }]);
});

test("a summary that is put off is repeated with the same id and the same messages, whatever comes in between", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer, answerWith } = addPaced(world, { gatherSeconds: 3600 });
  deliverer.start();
  answerWith(({ numbers: [n] }) => (n === 1 && carried.length < 4 ? PUT_OFF : ANSWERED));
  await postNumbered(world, 1, 3);
  await world.runUntil(world.clock.now() + HOUR_MS);
  expect(world.states()).toEqual({ pending: 3 });
  await postNumbered(world, 4, 5);
  await world.runUntil(world.clock.now() + 3 * HOUR_MS);
  const summaries = carried.filter(({ numbers: [n] }) => n === 1);
  expect(summaries).toHaveLength(4);
  expect(new Set(summaries.map(({ id, numbers: sent }) => JSON.stringify([id, sent]))).size).toBe(1);
  expect(carried.at(-1)).toMatchObject({ numbers: [4, 5] });
  expect(world.states()).toEqual({ delivered: 5 });
});

test("repeating a message costs nothing of the limits, and needs none", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer, answerWith } = addPaced(world);
  deliverer.start();
  answerWith(() => PUT_OFF);
  await postNumbered(world, 1, 10);
  const pace = query.selectFrom("recipient_pace").select(["window_sent", "hour_sent"]);
  await world.runUntil(world.clock.now() + 3 * MINUTE_MS);
  expect(carried.length).toBeGreaterThan(20);
  expect(world.db.now(() => first(pace))).toEqual({ window_sent: 10, hour_sent: 10 });
});

test("when its submission is deleted, a message leaves the summary, and the others go on without it", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer, answerWith } = addPaced(world, { gatherSeconds: 3600 });
  deliverer.start();
  answerWith(() => (carried.length < 2 ? PUT_OFF : ANSWERED));
  const posted = [...world.post(1, { n: 1 }), ...world.post(1, { n: 2 }), ...world.post(1, { n: 3 })];
  const erase = (index: number) =>
    world.db.now(() => run(query.deleteFrom("submission").where("id", "=", posted[index]!)));
  await world.runUntil(world.clock.now() + HOUR_MS);
  expect(carried.map((each) => each.numbers)).toEqual([[1, 2, 3]]);
  erase(1);
  erase(0);
  deliverer.reload();
  await world.runUntil(world.clock.now() + 3 * HOUR_MS);
  expect(carried.at(-1)).toMatchObject({ numbers: [3] });
  expect(world.states()).toEqual({ delivered: 1 });
});

test("members of a summary whose first message is deleted while it is sent are recorded as it is", async () => {
  await using world = new WebhookWorld();
  const { deliverer, answerWith } = addPaced(world, { gatherSeconds: 3600 });
  deliverer.start();
  const [lead = ""] = world.post(1, { n: 1 });
  world.post(2, { n: 2 });
  answerWith(() => {
    world.db.now(() => run(query.deleteFrom("submission").where("id", "=", lead)));
    return ANSWERED;
  });
  await world.runUntil(world.clock.now() + HOUR_MS);
  expect(world.states()).toEqual({ delivered: 2 });
});

test("a process that ends while a summary is under way leaves it to be repeated once as it was", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer, answerWith, restart } = addPaced(world, { gatherSeconds: 3600 });
  deliverer.start();
  await postNumbered(world, 1, 3);
  answerWith(() => ANSWERED);
  await world.runUntil(world.clock.now() + HOUR_MS);
  await deliverer.stop(0);
  // As a killed process leaves it: claimed, and nothing recorded.
  world.db.execute("UPDATE delivery SET state = 'sending', finished_at = NULL; DELETE FROM attempt");
  const next = restart();
  await next.recover();
  next.start();
  await world.settle();
  expect(world.states()).toEqual({ pending: 3 });
  await world.runUntil(world.clock.now() + 29 * MINUTE_MS);
  expect(carried).toHaveLength(1);
  await world.runUntil(world.clock.now() + MINUTE_MS);
  expect(carried[1]).toMatchObject({ id: carried[0]!.id, numbers: [1, 2, 3] });
  expect(world.states()).toEqual({ delivered: 3 });
});

test("a summary that was held goes out whole, even if not all of its messages were released yet", async () => {
  await using world = new WebhookWorld();
  const { ids, carried, deliverer, answerWith } = addPaced(world, { gatherSeconds: 3600 });
  const [id = ""] = ids;
  const align = () => world.db.now(() => alignDeliveries(world.clock.now()));
  deliverer.start();
  answerWith(() => PUT_OFF);
  // More than one batch of a bulk change.
  world.post(700, { n: 0 });
  await world.runUntil(world.clock.now() + HOUR_MS);
  world.db.now(() => setRecipientEnabled(id, false));
  while (align());
  expect(world.states()).toEqual({ held: 700 });
  answerWith(() => ANSWERED);
  world.db.now(() => setRecipientEnabled(id, true));
  deliverer.reload();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 700 });
  expect(carried.map(({ count }) => count)).toEqual([700, 700]);
});

test("all recipients together get no more than the messages of a minute, and none is lost", async () => {
  await using world = new WebhookWorld();
  const pace = { ...PACED.pace!, perMinute: 5 };
  const { carried, deliverer } = addPaced(world, { count: 4, policy: { pace } });
  deliverer.start();
  const startedAt = world.clock.now();
  await postNumbered(world, 1, 5);
  expect(carried).toHaveLength(5);
  for (let minute = 1; minute < 4; minute += 1) {
    await world.runUntil(startedAt + minute * MINUTE_MS);
    expect(carried).toHaveLength(5 * (minute + 1));
  }
  expect(world.states()).toEqual({ delivered: 20 });
  expect(new Set(carried.map(({ to }) => to)).size).toBe(4);
});

test("a flood of thousands is told in few messages, and the bodies of fifty are read", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer } = addPaced(world);
  deliverer.start();
  const startedAt = world.clock.now();
  world.post(2300, { n: 0 });
  await world.runUntil(startedAt + 10 * MINUTE_MS);
  expect(carried.map(({ count }) => count)).toEqual([...numbers(1, 10).map(() => 1), 1000]);
  expect(carried[10]?.numbers).toHaveLength(50);
  await world.runUntil(startedAt + HOUR_MS);
  expect(carried.slice(10).map(({ count }) => count)).toEqual([1000, 1000, 290]);
  expect(world.states()).toEqual({ delivered: 2300 });
});

test("a replay brings a whole summary again as it was, and with new ids each of its messages by itself", async () => {
  await using world = new WebhookWorld();
  const { carried, deliverer } = addPaced(world, { gatherSeconds: 3600 });
  deliverer.start();
  await postNumbered(world, 1, 3);
  await world.runUntil(world.clock.now() + HOUR_MS);
  const [leadId = "", memberId = ""] = world.deliveryIds();
  const now = world.clock.now();
  for (const id of [leadId, memberId])
    expect(await replayDelivery(world.db, id, { asNew: false, now }), id).toBe(leadId);
  deliverer.reload();
  await world.settle();
  expect(carried.slice(1)).toMatchObject([{ id: leadId, numbers: [1, 2, 3] }]);
  const range = { kind: "pigeon", recipientId: null, failedOnly: false, since: null, until: null };
  expect(await countReplayable(world.db, range, { asNew: false, now })).toBe(1);
  expect(await replayRange(world.db, range, { asNew: false, now })).toBe(1);
  deliverer.reload();
  await world.settle();
  expect(carried.slice(2)).toMatchObject([{ id: leadId, numbers: [1, 2, 3] }]);
  const fresh = await replayDelivery(world.db, memberId, { asNew: true, now });
  expect(fresh).not.toBe(leadId);
  expect(world.states()).toEqual({ delivered: 3, pending: 3 });
  deliverer.reload();
  await world.runUntil(now + 2 * HOUR_MS);
  expect(carried.slice(3)).toMatchObject([{ id: fresh, numbers: [1, 2, 3] }]);
});
