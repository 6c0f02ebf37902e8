import * as fc from "fast-check";
import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { toIsoTime } from "../../src/foundation/clock.ts";
import { newId } from "../../src/foundation/id.ts";
import { renderBody } from "../../src/outbox/queue/event.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { deleteRecipient, setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { claimDue } from "../support/claims.ts";
import { WebhookWorld } from "../support/webhook-world.ts";
import { run } from "../../src/database/steps.ts";

const SETTINGS = { ...defaultWebhookSettings, url: "https://example.com/" };

test("a webhook that another process made, disabled or deleted counts from the very next submission", async () => {
  await using world = new WebhookWorld();
  world.post();
  const other = openDatabase(world.db.path, { busyTimeoutMs: 1000 });
  const { webhook } = other.now(() =>
    insertWebhookRows(world.keyring, world.endpointId, SETTINGS, world.clock.now()),
  );
  world.post();
  expect(world.states()).toEqual({ pending: 1 });
  await world.spread();
  other.now(() => setRecipientEnabled(webhook.id, false));
  world.post();
  expect(world.states()).toEqual({ pending: 1, held: 1 });
  await deleteRecipient(other, webhook.id, world.clock.now());
  world.post();
  expect(world.states()).toEqual({});
  other.close();
});

test("a batch that failed does not keep what it had read", async () => {
  await using world = new WebhookWorld();
  const submission = { id: "sub_x", endpointId: world.endpointId, spamScore: 0 };
  const told = { ...submission, ipAddress: "", userAgent: "", createdAt: 0 };
  const other = openDatabase(world.db.path, { busyTimeoutMs: 1000 });
  other.now(() => insertWebhookRows(world.keyring, world.endpointId, SETTINGS, world.clock.now()));
  const failing = (): void =>
    world.outbox.transactionNow((enqueue) => {
      expect(enqueue(told, 0).head).toContain("submission.created");
      throw new Error("taken back");
    });
  expect(failing).toThrow("taken back");
  other.now(() => run(query.deleteFrom("recipient")));
  world.post();
  expect(world.states()).toEqual({});
  other.close();
});

test("whatever a submission holds, every attempt sends the JSON that docs/webhooks.md shows, byte for byte", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook(SETTINGS.url);
  const value = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" }));
  const text = fc.string({ unit: "binary" });
  const endpoint = { id: webhook.endpointId, name: "Contact" };
  const property = fc.asyncProperty(value, text, fc.nat(), async (data, userAgent, createdAt) => {
    const id = newId("sub", 1);
    const told = { id, endpointId: endpoint.id, spamScore: 7, ipAddress: "::1", userAgent, createdAt };
    const submission = { id, data, spam_score: 7, ip_address: "::1", user_agent: userAgent };
    const created = { ...submission, created_at: toIsoTime(createdAt) };
    const event = { event: "submission.created", timestamp: toIsoTime(1), endpoint, submission: created };
    expect(renderBody(told, JSON.stringify(data), endpoint.name, 1)).toBe(JSON.stringify(event));

    world.store([told], data, 1);
    await world.spread();
    expect(claimDue(world.db, webhook.id, 1, 1)[0]?.body).toBe(JSON.stringify(event));
  });
  await fc.assert(property);
});
