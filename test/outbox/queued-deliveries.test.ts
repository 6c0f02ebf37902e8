import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { createMetrics } from "../../src/foundation/prometheus.ts";
import { getDelivery, listDeliveries } from "../../src/outbox/queue/delivery-store.ts";
import { replayDelivery } from "../../src/outbox/queue/replay-deliveries.ts";
import { spreadLate } from "../../src/outbox/sending/spread-outbox.ts";
import { MAIL_METRICS } from "../../src/mail/health/mail-metrics.ts";
import { oldestDueAt } from "../../src/outbox/queue/count-deliveries.ts";
import { measureKind } from "../../src/outbox/queue/kind-metrics.ts";
import { WEBHOOK_METRICS } from "../../src/webhooks/webhook-metrics.ts";
import { deleteRecipient, setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { claimDue, earliestDue, finish } from "../support/claims.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { dropOld, ANSWERED, WebhookWorld } from "../support/webhook-world.ts";
import { all, first, run } from "../../src/database/steps.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const ALL = { kinds: null, recipientId: null, submissionId: null, state: null, cursor: null, limit: 1000 };
function rowsInOutbox(world: WebhookWorld): number[] {
  return world.db
    .now(() => all(query.selectFrom("outbox").select("message_count").orderBy("number")))
    .map(({ message_count: count }) => count);
}

test("pages of deliveries go on from those in the outbox to older ones, newest first, none twice", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  world.addWebhook("https://example.org/");
  for (let round = 0; round < 4; round += 1) {
    world.post(5);
    world.clock.advance(1);
    if (round === 1) await world.spread();
  }
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page = world.db.now(() => listDeliveries({ ...ALL, limit: 7, cursor }));
    found.push(...page.deliveries.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(rowsInOutbox(world)).toHaveLength(4);
  expect(found).toEqual(world.deliveryIds().toReversed());
  expect(new Set(found).size).toBe(40);
});

test("one in the outbox is found by its id, its webhook, its submission and its state, and replayed", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  const { webhook: disabled } = world.addWebhook("https://example.org/");
  world.db.now(() => setRecipientEnabled(disabled.id, false));
  const [first, second] = world.post(2);
  const list = (filter: object) => world.db.now(() => listDeliveries({ ...ALL, ...filter })).deliveries;
  expect(list({ state: "pending" }).map(({ submissionId }) => submissionId)).toEqual([second, first]);
  expect(list({ state: "held" }).every(({ recipientId }) => recipientId === disabled.id)).toBe(true);
  expect(list({ state: "delivered" })).toEqual([]);
  const [found] = list({ recipientId: webhook.id, submissionId: first });
  const expected = { state: "pending", attempts: 0, dueAt: world.clock.now() };
  expect(world.db.now(() => getDelivery(found!.id))).toMatchObject(expected);
  world.clock.advance(1000);
  await replayDelivery(world.db, found!.id, { asNew: false, now: world.clock.now() });
  expect(world.db.now(() => getDelivery(found!.id))).toMatchObject({
    ...expected,
    dueAt: world.clock.now(),
  });
  expect(world.states()).toEqual({ pending: 2, held: 2 });
});

test("what waits in the outbox of a submission that is deleted is neither listed nor sent", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const { webhook } = world.addWebhook(receiver.url);
  const [first, second, third] = world.post(3);
  world.db.now(() => run(query.deleteFrom("submission").where("id", "=", second!)));
  expect(world.states()).toEqual({ pending: 2 });
  const listed = world.db.now(() => listDeliveries(ALL)).deliveries;
  expect(listed.map(({ submissionId }) => submissionId).toSorted()).toEqual([first, third]);
  world.deliverer.start();
  await world.settle();
  const told = receiver.received.map(
    ({ body }) => (JSON.parse(body.toString()) as { submission: { id: string } }).submission.id,
  );
  expect(told.toSorted()).toEqual([first, third]);
  expect(rowsInOutbox(world)).toEqual([]);
  expect(earliestDue(world.db, webhook.id)).toBeNull();

  const [last] = world.post(1);
  world.db.now(() => run(query.deleteFrom("submission").where("id", "=", last!)));
  await world.spread();
  expect(world.states()).toEqual({ delivered: 2 });
});

test("the messages of one transaction are claimed as few at a time as there are slots, in order, each once", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.post(100);
  expect(rowsInOutbox(world)).toEqual([64, 36]);
  const expected = world.deliveryIds();
  const claim = (limit: number) =>
    claimDue(world.db, webhook.id, limit, world.clock.now()).map(({ id }) => id);
  const claimed = claim(10);
  expect(rowsInOutbox(world)).toEqual([54, 36]);
  claimed.push(...claim(60));
  expect(rowsInOutbox(world)).toEqual([30]);
  expect(world.states()).toEqual({ sending: 70, pending: 30 });
  claimed.push(...claim(60));
  expect(claimed).toEqual(expected);
  expect(claim(1)).toEqual([]);
});

test("deleting a webhook takes no body from another whose messages still wait in the outbox", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const { webhook: one } = world.addWebhook("https://example.com/");
  const { webhook: second } = world.addWebhook(receiver.url);
  const [id] = world.post();
  claimDue(world.db, one.id, 1, world.clock.now());
  await deleteRecipient(world.db, one.id, world.clock.now());
  expect(world.db.now(() => listDeliveries(ALL)).deliveries).toMatchObject([{ recipientId: second.id }]);
  world.deliverer.reload();
  world.deliverer.start();
  await world.settle();
  expect(JSON.parse(receiver.received[0]!.body.toString())).toMatchObject({ submission: { id } });
});

test("old bodies are kept as long as a message of their time waits in the outbox", async () => {
  await using world = new WebhookWorld();
  const { webhook: one } = world.addWebhook("https://example.com/");
  world.addWebhook("https://example.org/");
  const [id] = world.post();
  const [claimed] = claimDue(world.db, one.id, 1, world.clock.now());
  const ended = { delivery: claimed!, transport: world.transport, result: ANSWERED, random: 0 };
  finish(world.db, [ended], world.clock.now());
  expect(world.states()).toEqual({ pending: 1, delivered: 1 });
  world.clock.advance(31 * DAY_MS);
  expect(dropOld(world, 30)).toBe(0);
  await world.spread();
  expect(dropOld(world, 30)).toBe(1);
  const body = query.selectFrom("submission").select("event_head").where("id", "=", id!);
  expect(world.db.now(() => first(body))?.event_head).toContain("submission.created");
});

test("what has waited in the outbox for a minute becomes deliveries, and what a wrong clock queued at once", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  world.post(600);
  expect(await spreadLate(world.db, world.clock.now() + 60_000)).toBe(0);
  expect(await spreadLate(world.db, world.clock.now() + 60_001)).toBeGreaterThanOrEqual(500);
  expect(await spreadLate(world.db, world.clock.now() + 60_001)).toBeGreaterThan(0);
  expect(await spreadLate(world.db, world.clock.now() + 60_001)).toBe(0);
  expect(rowsInOutbox(world)).toEqual([]);
  expect(world.states()).toEqual({ pending: 600 });
  world.post();
  expect(await spreadLate(world.db, world.clock.now() - DAY_MS)).toBe(1);
});

test("the metrics of a kind count what waits in the outbox for it alone, and since when", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  const { webhook: disabled } = world.addWebhook("https://example.org/");
  world.db.now(() => setRecipientEnabled(disabled.id, false));
  world.post(3);
  await world.spread();
  world.post(100);
  world.clock.advance(5000);
  const metrics = createMetrics(null);
  const { db, clock } = world;
  for (const names of [WEBHOOK_METRICS, MAIL_METRICS]) measureKind(names, { metrics, db, clock });
  const text = await metrics.render();
  expect(text).toContain('formsvc_webhook_deliveries{state="pending"} 103\n');
  expect(text).toContain('formsvc_webhook_deliveries{state="held"} 103\n');
  expect(text).toContain("formsvc_webhook_oldest_due_seconds 5\n");
  expect(text).toContain('formsvc_mail_deliveries{state="pending"} 0\n');
  expect(text).not.toContain("formsvc_mail_oldest_due_seconds 5");
  world.db.now(() => run(query.deleteFrom("delivery")));
  world.clock.advance(1000);
  expect(await metrics.render()).toContain("formsvc_webhook_oldest_due_seconds 6\n");
});

test("a message that goes in a summary is overdue when the summary is, and not before", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  world.post(3);
  await world.spread();
  const dueAt = world.clock.now() + DAY_MS;
  world.db.execute(
    `UPDATE delivery SET lead_id = (SELECT min(id) FROM delivery) WHERE id > (SELECT min(id) FROM delivery);
     UPDATE delivery SET due_at = ${dueAt} WHERE lead_id IS NULL`,
  );
  expect(world.db.now(() => oldestDueAt(WEBHOOK_METRICS.kind))).toBe(dueAt);
});
