import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { getDelivery, listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import { countReplayable, replayDelivery, replayRange } from "../../src/outbox/queue/replay-deliveries.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { verifyWithOfficial, WebhookWorld } from "../support/webhook-world.ts";
import { all, run } from "../../src/database/steps.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const EVERYTHING = { kind: "webhook", recipientId: null, failedOnly: false, since: null, until: null };
const FAILED = { ...EVERYTHING, failedOnly: true };

test("a replayed delivery is sent again with its id, its bytes and all its attempts", async () => {
  await using world = new WebhookWorld();
  let status = 400;
  await using receiver = await startReceiverWith((response, { body }) => {
    response.writeHead(body.includes('"bad"') ? status : 200).end();
  });
  const { secret } = world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post(1, { message: "bad" });
  const [id] = world.deliveryIds();
  await world.runAmongOthers(world.clock.now() + 100 * HOUR_MS);
  expect(world.states()).toMatchObject({ failed: 1 });
  status = 200;
  world.clock.set(Date.now());
  expect(await replayDelivery(world.db, id!, { asNew: false, now: world.clock.now() })).toBe(id);
  expect(world.db.now(() => getDelivery(id!))).toMatchObject({ state: "pending", spent: 0, attempts: 13 });
  world.deliverer.reload();
  await world.settle();
  const last = receiver.received.at(-1)!;
  verifyWithOfficial(secret, last);
  expect(last.headers["webhook-id"]).toBe(id);
  expect(last.body).toEqual(receiver.received[0]!.body);
  expect(world.db.now(() => listAttempts(id!))).toHaveLength(14);
  expect(Object.keys(world.states())).toEqual(["delivered"]);
});

test("replayed as new it has a new id beside the old delivery, which stays as it was", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const { secret } = world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post();
  await world.settle();
  const [id] = world.deliveryIds();
  const fresh = await replayDelivery(world.db, id!, { asNew: true, now: world.clock.now() });
  expect(fresh).toMatch(/^msg_/);
  expect(fresh).not.toBe(id);
  world.deliverer.reload();
  await world.settle();
  verifyWithOfficial(secret, receiver.received[1]!);
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([id, fresh]);
  expect(world.states()).toEqual({ delivered: 2 });
});

test("all that failed is replayed in one go, and only that", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  world.addWebhook(receiver.url);
  world.post(1100);
  await world.spread();
  world.db.now(() => run(query.updateTable("delivery").set({ state: "failed" })));
  world.clock.advance(1000);
  world.deliverer.start();
  world.post(10);
  await world.settle();
  expect(await countReplayable(world.db, FAILED, { asNew: false, now: world.clock.now() })).toBe(1100);
  expect(await replayRange(world.db, FAILED, { asNew: false, now: world.clock.now() })).toBe(1100);
  expect(await countReplayable(world.db, FAILED, { asNew: false, now: world.clock.now() })).toBe(0);
  expect(world.states()).toEqual({ delivered: 10, pending: 1100 });
  world.deliverer.reload();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 1110 });
});

test("a range of time is replayed by when the messages were made, as new once and not over and over", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.addWebhook("https://example.org/");
  const startMs = world.clock.now();
  for (let hour = 0; hour < 3; hour += 1) {
    world.post(300);
    world.clock.advance(HOUR_MS);
  }
  await world.spread();
  markDelivered(world);
  const range = {
    ...EVERYTHING,
    recipientId: webhook.id,
    since: startMs + HOUR_MS,
    until: startMs + 2 * HOUR_MS,
  };
  expect(await countReplayable(world.db, range, { asNew: true, now: world.clock.now() })).toBe(300);
  const onwards = { ...range, until: null };
  expect(await replayRange(world.db, onwards, { asNew: true, now: world.clock.now() })).toBe(600);
  expect(world.states()).toEqual({ delivered: 1800, pending: 600 });
});

test("a summary is replayed whole for a time at which any of its messages was made, and counts once", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  world.post(2);
  world.clock.advance(HOUR_MS);
  world.post(2);
  await world.spread();
  const [alone, lead, second, third] = world.deliveryIds();
  world.db
    .execute(`UPDATE delivery SET state = 'delivered', lead_id = '${lead}' WHERE id IN ('${second}', '${third}');
    UPDATE delivery SET state = 'delivered' WHERE lead_id IS NULL`);
  const now = world.clock.now();
  const replay = async (since: number, until: number | null) => {
    markDelivered(world);
    const range = { ...EVERYTHING, since, until };
    const counted = await countReplayable(world.db, range, { asNew: false, now });
    expect(await replayRange(world.db, range, { asNew: false, now: now + 1 })).toBe(counted);
    const waiting = query.selectFrom("delivery").select("id").where("state", "=", "pending").orderBy("id");
    return [counted, ...world.db.now(() => all(waiting)).map(({ id }) => id)];
  };
  expect(await replay(now - 60_000, null)).toEqual([1, lead, second, third]);
  expect(await replay(now - 2 * HOUR_MS, null)).toEqual([2, alone, lead, second, third]);
  expect(await replay(now - 60_000, now - 30_000)).toEqual([0]);
  expect(await replay(now + 60_000, null)).toEqual([0]);
});

test("a range that is replayed as new again multiplies nothing: what still waits is left, else each message goes once", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.post(3);
  const replayAll = async (): Promise<number> => {
    world.clock.advance(1000);
    const range = { ...EVERYTHING, since: 0 };
    const counted = await countReplayable(world.db, range, { asNew: true, now: world.clock.now() });
    expect(await replayRange(world.db, range, { asNew: true, now: world.clock.now() })).toBe(counted);
    return counted;
  };
  expect(await replayAll()).toBe(0);
  world.db.now(() => setRecipientEnabled(webhook.id, false));
  expect(await replayAll()).toBe(0);
  markDelivered(world);
  expect(await replayAll()).toBe(3);
  expect(await replayAll()).toBe(0);
  markDelivered(world);
  expect(await replayAll()).toBe(3);
  expect(world.states()).toEqual({ delivered: 6, held: 3 });
});

test("one that is still to be sent is not replayed as new, and the refusal says what to do", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  world.post();
  const [id] = world.deliveryIds();
  const options = { asNew: true, now: world.clock.now() };
  await expect(replayDelivery(world.db, id!, options)).rejects.toMatchObject({
    message: `${id!} is pending and would be sent under two ids`,
    facts: { hint: { kind: "wait_or_keep_id" } },
  });
  world.db.execute("UPDATE delivery SET state = 'held'");
  await expect(replayDelivery(world.db, id!, options)).rejects.toMatchObject({
    message: `${id!} is held and would be sent under two ids`,
    facts: { hint: { kind: "enable_recipient_or_keep_id" } },
  });
  expect(world.deliveryIds()).toEqual([id]);
});

function markDelivered(world: WebhookWorld): void {
  world.db.execute("UPDATE delivery SET state = 'delivered', finished_at = 1");
}

test("what is replayed to a disabled webhook is held for it; what is being sent is left alone", async () => {
  await using world = new WebhookWorld();
  const release: (() => void)[] = [];
  await using receiver = await startReceiverWith((response) => release.push(() => response.end()));
  const { webhook } = world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post();
  await expect.poll(() => release.length).toBe(1);
  const [id] = world.deliveryIds();
  const now = world.clock.now();
  await expect(replayDelivery(world.db, id!, { asNew: false, now })).rejects.toThrow(/being sent/);
  await expect(replayDelivery(world.db, id!, { asNew: true, now })).rejects.toThrow(/being sent/);
  expect(await countReplayable(world.db, EVERYTHING, { asNew: false, now: world.clock.now() })).toBe(0);
  release[0]!();
  await world.settle();
  world.db.now(() => setRecipientEnabled(webhook.id, false));
  await replayDelivery(world.db, id!, { asNew: true, now });
  await replayDelivery(world.db, id!, { asNew: false, now });
  expect(world.states()).toEqual({ held: 2 });
  await expect(replayDelivery(world.db, "msg_none", { asNew: false, now })).rejects.toThrow(/no delivery/);
});
