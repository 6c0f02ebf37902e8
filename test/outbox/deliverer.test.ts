import { Webhook as SvixWebhook } from "svix";
import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { createLog } from "../../src/foundation/log.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { getDelivery, listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import { alignDeliveries } from "../../src/outbox/queue/align-deliveries.ts";
import { deleteRecipient, setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import {
  activeKeys,
  getWebhook,
  rotateSecretRows,
  updateWebhookRows,
} from "../../src/webhooks/webhook-store.ts";
import { type Received, startReceiverWith } from "../support/receivers.ts";
import { verifyWithOfficial, WebhookWorld } from "../support/webhook-world.ts";
import { all, run } from "../../src/database/steps.ts";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";

test("a submission reaches every webhook of its endpoint, signed, with the body that docs/webhooks.md shows", async () => {
  await using world = new WebhookWorld();
  await using first = await startReceiverWith((response) => response.end());
  await using second = await startReceiverWith((response) => response.end());
  const secrets = [first, second].map(
    ({ url }) => world.addWebhook(url, { headers: { "x-team": "sales" } }).secret,
  );
  world.deliverer.start();
  const [submissionId] = world.post(1, { name: "Ada", ".": "a\r\nb: c", emoji: "🙂" });
  await world.settle();
  const created = new Date(world.clock.now()).toISOString();
  for (const [index, receiver] of [first, second].entries()) {
    const [message] = receiver.received;
    verifyWithOfficial(secrets[index]!, message!);
    new SvixWebhook(secrets[index]!).verify(message!.body, message!.headers as Record<string, string>);
    expect(JSON.parse(message!.body.toString())).toEqual({
      event: "submission.created",
      timestamp: created,
      endpoint: { id: world.endpointId, name: "Contact" },
      submission: {
        id: submissionId,
        data: { name: "Ada", ".": "a\r\nb: c", emoji: "🙂" },
        spam_score: 0,
        ip_address: "192.0.2.1",
        user_agent: "test",
        created_at: created,
      },
    });
    expect(message!.headers).toMatchObject({ "x-team": "sales", "content-type": "application/json" });
    expect(message!.headers["user-agent"]).toMatch(/^formsvc\/\d/);
    expect(message!.headers["webhook-id"]).toMatch(/^msg_[0-9a-z]{26}$/);
  }
  expect(first.received[0]!.body).toEqual(second.received[0]!.body);
  expect(world.states()).toEqual({ delivered: 2 });
  expect(world.inconsistencies()).toEqual([]);
});

test("retries keep the id and the bytes, renew the time, and come as the schedule says", async () => {
  await using world = new WebhookWorld();
  const startMs = world.clock.now();
  const times: number[] = [];
  const bad: Received[] = [];
  await using receiver = await startReceiverWith((response, message) => {
    if (!message.body.includes('"bad"')) return response.end();
    bad.push(message);
    times.push((world.clock.now() - startMs) / 1000);
    return response.writeHead(404).end("no such hook");
  });
  world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post(1, { message: "bad" });
  await world.runAmongOthers(startMs + 100 * HOUR_MS);
  const waits = times.map((at, index) => (index === 0 ? at : at - times[index - 1]!));
  expect(waits).toEqual([0, 5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 86_400]);
  expect(new Set(bad.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(bad.map(({ body }) => body.toString())).size).toBe(1);
  const stamps = bad.map(({ headers }) => Number(headers["webhook-timestamp"]));
  expect(stamps).toEqual(times.map((at) => Math.floor(startMs / 1000 + at)));
  const [id] = world.deliveryIds();
  expect(world.db.now(() => getDelivery(id!))).toMatchObject({
    state: "failed",
    attempts: 13,
    spent: 13,
    lastStatus: 404,
  });
  expect(world.db.now(() => listAttempts(id!))).toHaveLength(13);
  expect(world.db.now(() => listAttempts(id!))[0]).toMatchObject({
    status: 404,
    answer: "no such hook",
    isProbe: false,
  });
  expect(world.inconsistencies()).toEqual([]);
});

test("a delay of a week, the longest that the schedule may have, is waited for, also after a restart", async () => {
  await using world = new WebhookWorld({ scheduleSeconds: [7 * 86_400] });
  await using receiver = await startReceiverWith((response) => response.writeHead(500).end());
  world.addWebhook(receiver.url);
  world.deliverer.start();
  const startMs = world.clock.now();
  world.post();
  await world.runUntil(startMs + HOUR_MS);
  await world.restart();
  await world.runUntil(startMs + 7 * 24 * HOUR_MS - 1);
  expect(receiver.received).toHaveLength(1);
  await world.runUntil(startMs + 7 * 24 * HOUR_MS);
  expect(receiver.received).toHaveLength(2);
});

test("what a receiver asks for in Retry-After is waited for, by all its deliveries", async () => {
  await using world = new WebhookWorld();
  let busy = true;
  await using receiver = await startReceiverWith((response) => {
    if (busy) response.writeHead(429, { "retry-after": "3600" }).end();
    else response.end();
  });
  world.addWebhook(receiver.url);
  world.deliverer.start();
  const startMs = world.clock.now();
  world.post();
  await world.settle();
  busy = false;
  world.clock.advance(60_000);
  world.post();
  await world.runUntil(startMs + HOUR_MS - 1);
  expect(receiver.received).toHaveLength(1);
  await world.runUntil(startMs + HOUR_MS);
  expect(receiver.received).toHaveLength(3);
  expect(world.states()).toEqual({ delivered: 2 });
});

test("410 once is retried, twice at least a minute apart stops the webhook and holds its deliveries", async () => {
  await using world = new WebhookWorld();
  let status = 410;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  const { webhook } = world.addWebhook(receiver.url);
  world.deliverer.start();
  const startMs = world.clock.now();
  world.post();
  await world.runUntil(startMs + 59_000);
  expect(world.db.now(() => getWebhook(webhook.id)).state).toBe("enabled");
  world.post(3);
  await world.runUntil(startMs + HOUR_MS);
  expect(world.db.now(() => getWebhook(webhook.id)).state).toBe("stopped");
  world.post();
  await world.runUntil(startMs + 200 * HOUR_MS);
  expect(world.states()).toEqual({ held: 5 });
  const before = receiver.received.length;
  expect(before).toBeLessThan(12);

  status = 200;
  world.db.now(() => setRecipientEnabled(webhook.id, true));
  world.deliverer.reload();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 5 });
  expect(receiver.received).toHaveLength(before + 5);
  expect(world.inconsistencies()).toEqual([]);
});

test("a 410 that a success follows is forgotten", async () => {
  await using world = new WebhookWorld();
  const answers = [410, 200, 410, 200];
  await using receiver = await startReceiverWith((response, _, index) =>
    response.writeHead(answers[index]!).end(),
  );
  const { webhook } = world.addWebhook(receiver.url);
  world.deliverer.start();
  for (let round = 0; round < 2; round += 1) {
    world.post();
    await world.runUntil(world.clock.now() + HOUR_MS);
  }
  expect(world.db.now(() => getWebhook(webhook.id))).toMatchObject({
    state: "enabled",
    goneAt: null,
    failingSince: null,
  });
  expect(world.states()).toEqual({ delivered: 2 });
});

test("a disabled webhook's deliveries are held, also what is in flight, and go out when it is enabled", async () => {
  await using world = new WebhookWorld();
  const release: (() => void)[] = [];
  let slow = true;
  await using receiver = await startReceiverWith((response) => {
    if (slow) release.push(() => response.writeHead(500).end());
    else response.end();
  });
  const { webhook } = world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post();
  await expect.poll(() => release.length).toBe(1);
  world.db.now(() => setRecipientEnabled(webhook.id, false));
  world.deliverer.reload();
  release[0]!();
  world.post(2);
  await world.settle();
  await world.runUntil(world.clock.now() + 100 * HOUR_MS);
  expect(world.states()).toEqual({ held: 3 });
  expect(receiver.received).toHaveLength(1);
  slow = false;
  world.db.now(() => setRecipientEnabled(webhook.id, true));
  expect(world.db.now(() => alignDeliveries(world.clock.now()))).toBe(false);
  expect(world.states()).toEqual({ pending: 3 });
  world.deliverer.reload();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 3 });
});

test("held deliveries of an enabled webhook go out although the command that enabled it died in between", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const { webhook } = world.addWebhook(receiver.url);
  world.db.now(() => setRecipientEnabled(webhook.id, false));
  world.post(1200);
  await world.spread();
  world.db.now(() => setRecipientEnabled(webhook.id, true));
  expect(world.states()).toEqual({ held: 1200 });
  world.deliverer.start();
  await expect.poll(async () => (await world.settle(), world.states())).toEqual({ delivered: 1200 });
});

test("a new URL and new headers are used for what is pending already", async () => {
  await using world = new WebhookWorld();
  await using old = await startReceiverWith((response) => response.writeHead(500).end());
  await using next = await startReceiverWith((response) => response.end());
  const { webhook } = world.addWebhook(old.url);
  world.deliverer.start();
  world.post();
  await world.settle();
  world.db.now(() =>
    updateWebhookRows(world.keyring, webhook.id, { url: next.url, headers: { authorization: "Bearer x" } }),
  );
  world.deliverer.reload();
  await world.runUntil(world.clock.now() + 60_000);
  expect(next.received[0]!.headers.authorization).toBe("Bearer x");
  expect(world.states()).toEqual({ delivered: 1 });
});

test("submissions above the webhook's highest spam score are not sent", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  world.addWebhook(receiver.url, { maxSpamScore: 25 });
  world.deliverer.start();
  world.post(1, {}, 25);
  world.post(1, {}, 26);
  await world.settle();
  expect(receiver.received).toHaveLength(1);
});

test("after a rotation both secrets verify for 24 hours, in the middle of retries too, then only the new one", async () => {
  await using world = new WebhookWorld();
  let status = 404;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  const { webhook, secret: oldest } = world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post();
  await world.settle();
  const { secret: middle } = world.db.now(() => rotateSecretRows(world.keyring, webhook, world.clock.now()));
  world.clock.advance(1000);
  const { secret: newest } = world.db.now(() => rotateSecretRows(world.keyring, webhook, world.clock.now()));
  world.deliverer.reload();
  status = 200;
  await world.runUntil(world.clock.now() + 30_000);
  const retried = receiver.received[1]!;
  for (const secret of [oldest, middle, newest]) verifyWithOfficial(secret, retried);
  expect(retried.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+ v1,\S+$/);

  world.clock.advance(DAY_MS);
  const keys = world.db.now(() => activeKeys(world.clock.now())).get(webhook.id);
  expect(keys).toHaveLength(1);
  world.post();
  await world.settle();
  expect(receiver.received[2]!.headers["webhook-signature"]).toMatch(/^v1,\S+$/);
});

test("a third rotation within the grace drops the oldest secret", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  for (let round = 0; round < 4; round += 1) {
    world.clock.advance(1000);
    world.db.now(() => rotateSecretRows(world.keyring, webhook, world.clock.now()));
  }
  expect(world.db.now(() => activeKeys(world.clock.now())).get(webhook.id)).toHaveLength(3);
});

test("deleting a submission deletes its deliveries, and one in flight is forgotten without a trace", async () => {
  await using world = new WebhookWorld();
  const release: (() => void)[] = [];
  await using receiver = await startReceiverWith((response) => release.push(() => response.end()));
  world.addWebhook(receiver.url);
  world.deliverer.start();
  const [first] = world.post(1);
  world.post(1);
  await expect.poll(() => release.length).toBe(2);
  world.db.now(() => run(query.deleteFrom("submission").where("id", "=", first!)));
  for (const answer of release) answer();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 1 });
  expect(world.db.now(() => all(query.selectFrom("attempt").select("number")))).toHaveLength(1);
});

test("deleting a webhook while it is being sent to deletes its deliveries and disturbs no other", async () => {
  await using world = new WebhookWorld();
  const release: (() => void)[] = [];
  await using slow = await startReceiverWith((response) => release.push(() => response.end()));
  await using fast = await startReceiverWith((response) => response.end());
  const { webhook } = world.addWebhook(slow.url);
  world.addWebhook(fast.url);
  world.deliverer.start();
  world.post(700);
  await expect.poll(() => release.length).toBeGreaterThan(0);
  await deleteRecipient(world.db, webhook.id, world.clock.now());
  world.deliverer.reload();
  for (const answer of release) answer();
  await expect.poll(async () => (await world.settle(), world.states())).toEqual({ delivered: 700 });
  expect(fast.received).toHaveLength(700);
  expect(world.inconsistencies()).toEqual([]);
});

test("a message that a defect keeps from being sent runs out of its attempts, is logged, and holds up no other", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const logged: unknown[] = [];
  const log = createLog("error", { write: (line) => void logged.push(JSON.parse(line)) });
  const { db, outbox, transport, clock } = world;
  const parts = { db, claims: createClaims(db), outbox, transports: [transport], clock, log };
  world.deliverer = new Deliverer({ ...parts, random: () => 0 });
  world.addWebhook(receiver.url);
  const [broken = ""] = world.post();
  await world.spread();
  const [id = ""] = world.deliveryIds();
  world.db.now(() => run(query.updateTable("submission").set({ event_head: null }).where("id", "=", broken)));
  world.deliverer.start();
  world.post();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 1, pending: 1 });
  expect(logged).toMatchObject([{ event: "delivery.defect", deliveryId: id, attempt: 1, err: {} }]);
  await world.runAmongOthers(world.clock.now() + 100 * HOUR_MS);
  expect(world.db.now(() => getDelivery(id))).toMatchObject({ state: "failed", spent: 13 });
  const attempts = world.db.now(() => listAttempts(id));
  expect(attempts).toHaveLength(13);
  expect(attempts[0]).toMatchObject({ outcome: "failed", status: null });
  expect(attempts[0]?.message).toMatch(/^The message could not be made or sent: /);
  const { failed, ...others } = world.states();
  expect({ failed, others: Object.keys(others) }).toEqual({ failed: 1, others: ["delivered"] });
  expect(world.inconsistencies()).toEqual([]);
});
