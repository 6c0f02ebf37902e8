import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { WebhookWorld } from "../support/webhook-world.ts";
import { all, first } from "../../src/database/steps.ts";

const POSTS = 400;
/** Quick answers after which a good many deliveries are claimed ahead. */
const WARM = 100;
const PER_WEBHOOK = 4;

function unsentAttempts(world: WebhookWorld): number[] {
  const rows = world.db.now(() =>
    all(query.selectFrom("delivery").select("attempts").where("state", "=", "pending")),
  );
  return [...new Set(rows.map(({ attempts }) => attempts))];
}

test("what was claimed ahead of a receiver that then hangs goes back, as if nobody had claimed it", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response, _, index) => {
    if (index < WARM) response.end();
  });
  world.addWebhook(receiver.url);
  world.post(POSTS);
  world.deliverer.start();
  await expect
    .poll(() => world.states())
    .toEqual({ delivered: WARM, sending: PER_WEBHOOK, pending: POSTS - WARM - PER_WEBHOOK });
  // A message is recorded as being sent before its request arrives.
  await expect.poll(() => receiver.received.length).toBe(WARM + PER_WEBHOOK);
  expect(unsentAttempts(world)).toEqual([0]);
});

test("a receiver that begins to fail is sent no more than what was in flight and one at a time", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response, _, index) => {
    response.writeHead(index < WARM ? 204 : 503).end();
  });
  world.addWebhook(receiver.url);
  world.post(POSTS);
  world.deliverer.start();
  await world.settle();
  expect(world.states()).toEqual({ delivered: WARM, pending: POSTS - WARM });
  expect(receiver.received.length).toBeLessThanOrEqual(WARM + PER_WEBHOOK + 1);
  expect(world.inconsistencies()).toEqual([]);
});

test("a webhook that is disabled gets nothing of what was claimed ahead", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response, _, index) => {
    if (index === WARM) {
      world.db.now(() => setRecipientEnabled(webhook.id, false));
      world.deliverer.reload();
    }
    response.end();
  });
  const { webhook } = world.addWebhook(receiver.url);
  world.post(POSTS);
  world.deliverer.start();
  await expect.poll(() => world.states()["held"] ?? 0).toBeGreaterThan(0);
  await world.settle();
  const delivered = receiver.received.length;
  expect(delivered).toBeLessThanOrEqual(WARM + 1 + PER_WEBHOOK);
  expect(world.states()).toEqual({ delivered, held: POSTS - delivered });
  expect(world.inconsistencies()).toEqual([]);
});

test("claims undone by a locked database are neither sent nor forgotten", async () => {
  await using world = new WebhookWorld();
  const other = openDatabase(world.db.path, { busyTimeoutMs: 0 });
  await using receiver = await startReceiverWith((response, _, index) => {
    if (index === WARM) other.execute("BEGIN IMMEDIATE");
    response.end();
  });
  world.addWebhook(receiver.url);
  world.post(POSTS);
  world.deliverer.start();
  await expect.poll(() => receiver.received.length).toBeGreaterThan(WARM);
  await new Promise((resolve) => setTimeout(resolve, 600));
  other.execute("ROLLBACK");
  other.close();
  await world.settle();
  expect(world.states()).toEqual({ delivered: POSTS });
  expect(receiver.received).toHaveLength(POSTS);
  expect(world.inconsistencies()).toEqual([]);
});

test("a reader that holds its view, as a replicator does, holds up no delivery", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  world.addWebhook(receiver.url);
  const reader = openDatabase(world.db.path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  reader.execute("BEGIN");
  reader.now(() => first(query.selectFrom("submission").select("id")));
  const pauses = monitorEventLoopDelay();
  pauses.enable();
  world.post(3000);
  world.deliverer.start();
  await world.settle();
  pauses.disable();
  expect(world.states()).toEqual({ delivered: 3000 });
  expect(pauses.max / 1e6).toBeLessThan(1500);
  expect(reader.now(() => all(query.selectFrom("submission").select("id")))).toEqual([]);
  reader.close();
});
