import { expect, test } from "vitest";
import {
  BEFORE_ALL,
  type DroppedDeliveries,
  dropOldDeliveries,
  type RetentionCursor,
} from "../../src/outbox/queue/delivery-retention.ts";
import { addPigeons } from "../support/pigeons.ts";
import { ANSWERED, WebhookWorld } from "../support/webhook-world.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** A world in which each post was delivered to pigeons alone, to webhooks alone, or to both. */
async function deliverTo(world: WebhookWorld, posts: number): Promise<void> {
  const { deliverer } = addPigeons(world, () => Promise.resolve(ANSWERED), { count: 2 });
  deliverer.start();
  world.post(posts);
  await world.settle();
  world.db.execute(`UPDATE recipient SET kind = 'webhook' WHERE id = (SELECT min(id) FROM recipient)`);
}

test("messages of each kind are kept for their own days, and the bodies as long as any of them", async () => {
  await using world = new WebhookWorld();
  await deliverTo(world, 5);
  world.clock.advance(20 * DAY_MS);
  const drop = (kind: string, days: number | null) =>
    world.db.now(() => dropOldDeliveries({ kind, days }, BEFORE_ALL, world.clock.now()));
  const bodies = "SELECT count(*) FROM submission WHERE event_head IS NOT NULL";
  const left = () => [world.states()["delivered"] ?? 0, world.db.prepare(bodies).pluck().get()];
  drop("webhook", null);
  drop("pigeon", 30);
  expect(left()).toEqual([10, 5]);
  drop("pigeon", 7);
  expect(left()).toEqual([5, 5]);
  drop("webhook", 7);
  expect(left()).toEqual([0, 0]);
});

test("a search goes on where the one before ended, and reads messages of other kinds once", async () => {
  await using world = new WebhookWorld();
  await deliverTo(world, 700);
  world.clock.advance(20 * DAY_MS);
  const looked: number[] = [];
  let after: RetentionCursor = BEFORE_ALL;
  const look = (): DroppedDeliveries =>
    world.db.now(() => dropOldDeliveries({ kind: "pigeon", days: 7 }, after, world.clock.now()));
  for (let round = 0; round < 5; round += 1) {
    const found = look();
    looked.push(found.looked);
    after = found.last;
  }
  expect(looked).toEqual([500, 500, 400, 0, 0]);
  expect(world.states()).toEqual({ delivered: 700 });
});
