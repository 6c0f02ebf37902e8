import { expect, test } from "vitest";
import { listEnabledRecipients } from "../../src/outbox/queue/recipient-store.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { addPigeons } from "../support/pigeons.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { ANSWERED, WebhookWorld } from "../support/webhook-world.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const REFUSED: AttemptResult = { ...ANSWERED, outcome: "refused", blame: "recipient", status: 550 };

test("recipients of two kinds each get every message, by their own transport within its own limits", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const underWay: (() => void)[] = [];
  const carried: string[] = [];
  const { reports } = addPigeons(world, ({ id, body }) => {
    carried.push(`${id} ${body}`);
    return new Promise((resolve) => underWay.push(() => resolve(ANSWERED)));
  });
  world.addWebhook(receiver.url);
  world.post(10);
  world.deliverer.start();
  await expect.poll(() => receiver.received.length).toBe(10);
  expect(carried).toHaveLength(2);
  await expect
    .poll(() => {
      for (const arrive of underWay.splice(0)) arrive();
      return world.states();
    })
    .toEqual({ delivered: 20 });
  expect(reports).toEqual(Array.from({ length: 10 }, () => "delivered"));
  const ids = [
    ...carried.map((text) => text.split(" ")[0]),
    ...receiver.received.map((got) => got.headers["webhook-id"]),
  ];
  expect(new Set(ids).size).toBe(20);
  expect(carried[0]).toContain(receiver.received[0]?.body.toString());
});

test("each transport's own schedule decides when its deliveries are given up", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.writeHead(500).end());
  addPigeons(world, () => Promise.resolve(REFUSED));
  world.addWebhook(receiver.url);
  world.post();
  world.deliverer.start();
  await world.runUntil(world.clock.now() + 61_000);
  expect(world.states()).toEqual({ failed: 1, pending: 1 });
});

test("messages to a recipient without a route wait until it has one", async () => {
  await using world = new WebhookWorld();
  const { ids, routes, deliverer } = addPigeons(world, () => Promise.resolve(ANSWERED));
  const [id] = ids as [string];
  const route = routes.get(id)!;
  routes.delete(id);
  world.post(3);
  deliverer.start();
  await world.runUntil(world.clock.now() + DAY_MS);
  expect(world.states()).toEqual({ pending: 3 });
  routes.set(id, route);
  deliverer.reload();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 3 });
});

test("a recipient of any kind that says twice that it is gone is stopped, and its deliveries are held", async () => {
  await using world = new WebhookWorld();
  addPigeons(world, () => Promise.resolve({ ...REFUSED, outcome: "gone" }));
  world.post();
  world.deliverer.start();
  await world.settle();
  world.clock.advance(61_000);
  world.post();
  await world.settle();
  expect(world.db.now(listEnabledRecipients)).toEqual([]);
  expect(world.states()["pending"] ?? 0).toBe(0);
});
