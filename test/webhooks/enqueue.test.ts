import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase, query } from "../../src/database/database.ts";
import { toIsoTime } from "../../src/foundation/clock.ts";
import { renderBody } from "../../src/webhooks/enqueue-delivery.ts";
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

test("whatever a submission holds, its body is the JSON of the specification, stored byte for byte", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook(SETTINGS.url);
  const value = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" }));
  const text = fc.string({ unit: "binary" });
  const property = fc.property(value, text, text, fc.nat(), (data, name, userAgent, createdAt) => {
    const submission = { id: "sub_x", endpointId: "ep_x", data, spamScore: 7, ipAddress: "::1", userAgent };
    const body = renderBody({ ...submission, createdAt }, name, 1);
    const told = { id: "sub_x", data, spam_score: 7, ip_address: "::1", user_agent: userAgent };
    const event = { event: "submission.created", timestamp: toIsoTime(1), endpoint: { id: "ep_x", name } };
    const expected = JSON.stringify({ ...event, submission: { ...told, created_at: toIsoTime(createdAt) } });
    expect(body).toBe(expected);
    const stored = world.db.prepare("SELECT CAST(? AS BLOB)").pluck().get(body) as Buffer;
    expect(stored.equals(Buffer.from(expected))).toBe(true);
  });
  fc.assert(property);
  world.post(1, { text: "gr\u00fc\u00df \u0000 \ud800" });
  const stored = world.db.prepare("SELECT body FROM event").pluck().get() as Buffer;
  expect(JSON.parse(stored.toString())).toMatchObject({
    endpoint: { id: webhook.endpointId, name: "Contact" },
  });
});
