import { expect, test } from "vitest";
import { getDelivery, listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import { getWebhook } from "../../src/webhooks/webhook-store.ts";
import { findClosedPort, startReceiverWith } from "../support/receivers.ts";
import { WebhookWorld } from "../support/webhook-world.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, WEEK_MS } from "../../src/foundation/time-units.ts";

/** A receiver that is down for so long while a post comes every `everyMs`; what it saw then and afterwards. */
async function liveThrough(downMs: number, everyMs: number) {
  await using world = new WebhookWorld();
  let isDown = true;
  let inFlight = 0;
  const inFlightAtRecovery: number[] = [];
  await using receiver = await startReceiverWith((response) => {
    if (isDown) return response.writeHead(503).end();
    inFlight += 1;
    inFlightAtRecovery.push(inFlight);
    return setTimeout(() => {
      inFlight -= 1;
      response.end();
    }, 1);
  });
  world.addWebhook(receiver.url);
  world.deliverer.start();
  const startMs = world.clock.now();
  let posts = 0;
  for (let at = startMs; at < startMs + downMs; at += everyMs) {
    await world.runUntil(at);
    posts += world.post().length;
  }
  await world.runUntil(startMs + downMs);
  const attemptsWhileDown = receiver.received.length;
  const statesWhileDown = world.states();
  isDown = false;
  await world.runUntil(startMs + downMs + 15 * MINUTE_MS);
  const ids = receiver.received.slice(attemptsWhileDown).map(({ headers }) => headers["webhook-id"]);
  return {
    world,
    posts,
    attemptsWhileDown,
    statesWhileDown,
    states: world.states(),
    ids,
    inFlightAtRecovery,
  };
}

test("a receiver that is down for 24 hours loses nothing, is probed a hundred times and gets all of it paced", async () => {
  const lived = await liveThrough(DAY_MS, MINUTE_MS);
  expect(lived.posts).toBe(1440);
  expect(lived.statesWhileDown).toEqual({ pending: 1440 });
  expect(lived.attemptsWhileDown).toBeLessThan(5 + 24 * 4 + 10);
  expect(lived.states).toEqual({ delivered: 1440 });
  expect(new Set(lived.ids).size).toBe(1440);
  expect(lived.inFlightAtRecovery.slice(0, 2)).toEqual([1, 1]);
  expect(Math.max(...lived.inFlightAtRecovery)).toBeLessThanOrEqual(4);
});

test("a receiver that is down for 7 days loses nothing: no message fails, all arrive within 15 minutes of its return", async () => {
  const lived = await liveThrough(WEEK_MS, 5 * MINUTE_MS);
  expect(lived.posts).toBe(2016);
  expect(lived.statesWhileDown).toEqual({ pending: 2016 });
  expect(lived.attemptsWhileDown).toBeLessThan(5 + 7 * 24 * 4 + 20);
  expect(lived.states).toEqual({ delivered: 2016 });
});

test("probes spend no attempt of any message, and each takes another message", async () => {
  await using world = new WebhookWorld();
  const port = await findClosedPort();
  const { webhook } = world.addWebhook(`http://127.0.0.1:${port}/`);
  world.deliverer.start();
  world.post(8);
  await world.runUntil(world.clock.now() + DAY_MS);
  const deliveries = world.deliveryIds().map((id) => world.db.now(() => getDelivery(id)));
  expect(deliveries.map(({ state }) => state)).toEqual(Array.from({ length: 8 }, () => "pending"));
  expect(deliveries.reduce((sum, { spent }) => sum + spent, 0)).toBeLessThanOrEqual(8);
  const probes = deliveries.flatMap(({ id }) =>
    world.db.now(() => listAttempts(id)).filter(({ isProbe }) => isProbe),
  );
  expect(probes.length).toBeGreaterThan(90);
  const counts = deliveries.map(({ attempts }) => attempts);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(6);
  expect(world.db.now(() => getWebhook(webhook.id))).toMatchObject({
    state: "enabled",
    breaker: { state: "open" },
  });
  expect(world.inconsistencies()).toEqual([]);
});

test("a receiver that answers 401 or 404 to everything gets probes only, and no message fails", async () => {
  for (const wrong of [401, 404]) {
    await using world = new WebhookWorld();
    let status = wrong;
    await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
    const { webhook } = world.addWebhook(receiver.url);
    world.deliverer.start();
    world.post(8);
    await world.runUntil(world.clock.now() + WEEK_MS);
    expect(world.db.now(() => getWebhook(webhook.id))).toMatchObject({ breaker: { state: "open" } });
    expect(world.states()).toEqual({ pending: 8 });
    status = 200;
    await world.runUntil(world.clock.now() + 15 * MINUTE_MS);
    expect(world.states()).toEqual({ delivered: 8 });
  }
});

test("one message that a receiver cannot digest neither blocks the others nor is given up before its attempts", async () => {
  for (const status of [400, 500]) {
    await using world = new WebhookWorld();
    await using receiver = await startReceiverWith((response, { body }) => {
      response.writeHead(body.includes("poison") ? status : 200).end();
    });
    world.addWebhook(receiver.url);
    world.deliverer.start();
    world.post(1, { message: "poison" });
    for (let hour = 0; hour < 100; hour += 1) {
      world.post(1);
      await world.runUntil(world.clock.now() + 16 * MINUTE_MS);
      expect(world.states()).toMatchObject({ delivered: hour + 1 });
      await world.runUntil(world.clock.now() + 44 * MINUTE_MS);
    }
    expect(world.states()).toEqual({ delivered: 100, failed: 1 });
    expect(world.db.now(() => getDelivery(world.deliveryIds()[0]!))).toMatchObject({
      state: "failed",
      spent: 13,
    });
  }
});

test("a restart does not forget an outage, and ends it if the receiver is back", async () => {
  await using world = new WebhookWorld();
  let status = 503;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  const { webhook } = world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post(20);
  await world.runUntil(world.clock.now() + HOUR_MS);
  const before = receiver.received.length;
  await world.deliverer.stop(0);
  await world.restart();
  await world.settle();
  expect(receiver.received).toHaveLength(before);
  expect(world.db.now(() => getWebhook(webhook.id)).breaker.state).toBe("open");
  status = 200;
  await world.runUntil(world.clock.now() + 15 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 20 });
  expect(world.db.now(() => getWebhook(webhook.id))).toMatchObject({
    failingSince: null,
    breaker: { state: "closed" },
  });
});

test("a clock that is set an hour back or forth, or a machine that slept, loses no delivery", async () => {
  for (const firstStatus of [404, 503]) {
    for (const jumpMs of [-HOUR_MS, HOUR_MS, 8 * HOUR_MS, -400 * 24 * HOUR_MS]) {
      await using world = new WebhookWorld();
      let status = firstStatus;
      await using receiver = await startReceiverWith((response) => {
        response.writeHead(status, { "retry-after": "60" }).end();
      });
      world.addWebhook(receiver.url);
      world.deliverer.start();
      world.post(3);
      await world.settle();
      status = 200;
      world.clock.advance(jumpMs);
      for (let hour = 0; hour < 38; hour += 1) {
        world.deliverer.reload();
        await world.runUntil(world.clock.now() + HOUR_MS);
      }
      expect(world.states(), `${firstStatus} ${jumpMs}`).toEqual({ delivered: 3 });
    }
  }
});

test("a running server notices by itself that its clock was set back, and sends what a clock far ahead had planned", async () => {
  await using world = new WebhookWorld();
  let status = 503;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  world.addWebhook(receiver.url);
  world.clock.advance(400 * 24 * HOUR_MS);
  world.deliverer.start();
  world.post(6);
  await world.settle();
  status = 200;
  world.clock.advance(-400 * 24 * HOUR_MS);
  await world.runUntil(world.clock.now() + 38 * HOUR_MS);
  expect(world.states()).toEqual({ delivered: 6 });
});

test("a running server whose clock is set back by less than a day sends as soon as without that", async () => {
  for (const failure of ["message", "probe", "asked wait"]) {
    await using world = new WebhookWorld();
    let status = failure === "message" ? 400 : 503;
    await using receiver = await startReceiverWith((response) => {
      if (failure === "asked wait") response.setHeader("retry-after", "600");
      response.writeHead(status).end();
    });
    world.addWebhook(receiver.url);
    world.deliverer.start();
    world.post(failure === "message" ? 1 : 6);
    await world.settle();
    const before = receiver.received.length;
    status = 200;
    world.clock.advance(-20 * HOUR_MS);
    await world.runUntil(world.clock.now());
    expect(receiver.received, failure).toHaveLength(before);
    await world.runUntil(world.clock.now() + 15 * MINUTE_MS);
    expect(world.states(), failure).toEqual({ delivered: failure === "message" ? 1 : 6 });
  }
});

test("while Gotify refuses the token for four days no message spends an attempt, and all arrive when it is mended", async () => {
  await using world = new WebhookWorld();
  let status = 401;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  const { webhook } = world.addWebhook(receiver.url, { format: "gotify" });
  world.deliverer.start();
  world.post(6);
  await world.runUntil(world.clock.now() + 4 * 24 * HOUR_MS);
  expect(world.states()).toEqual({ pending: 6 });
  for (const id of world.deliveryIds()) expect(world.db.now(() => getDelivery(id)).spent).toBe(0);
  expect(world.db.now(() => getWebhook(webhook.id)).failingSince).not.toBeNull();
  expect(receiver.received.length).toBeLessThan(4 * 24 * 4 + 20);
  status = 200;
  await world.runUntil(world.clock.now() + 15 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 6 });
});
