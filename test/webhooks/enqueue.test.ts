import { expect, test } from "vitest";
import { openDatabase, query } from "../../src/database/database.ts";
import { createWebhook, deleteWebhook, setWebhookEnabled } from "../../src/webhooks/webhook-store.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

const SETTINGS = { url: "https://example.com/", headers: {}, allowPrivate: false, maxSpamScore: 100 };

test("a webhook that another process made, disabled or deleted counts from the very next submission", async () => {
  await using world = new WebhookWorld();
  world.post();
  const other = openDatabase(world.db.path, { busyTimeoutMs: 1000 });
  const { webhook } = createWebhook(other, world.endpointId, SETTINGS, world.clock.now());
  world.post();
  expect(world.states()).toEqual({ pending: 1 });
  setWebhookEnabled(other, webhook.id, false);
  world.post();
  expect(world.states()).toEqual({ pending: 1, held: 1 });
  deleteWebhook(other, webhook.id);
  world.post();
  expect(world.states()).toEqual({});
  other.close();
});

test("a batch that failed does not keep what it had read", async () => {
  await using world = new WebhookWorld();
  const submission = { id: "sub_x", endpointId: world.endpointId, data: {}, spamScore: 0 };
  const told = { ...submission, ipAddress: "", userAgent: "", createdAt: 0 };
  const other = openDatabase(world.db.path, { busyTimeoutMs: 1000 });
  createWebhook(other, world.endpointId, SETTINGS, world.clock.now());
  expect(() => world.db.transaction(() => world.outbox.enqueue(told, 0))).toThrow(/FOREIGN KEY/);
  world.outbox.announce();
  other.run(query.deleteFrom("webhook"));
  world.post();
  expect(world.states()).toEqual({});
  other.close();
});
