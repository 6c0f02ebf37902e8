import { expect, test } from "vitest";
import { startReceiverWith } from "../support/receivers.ts";
import { PATIENCE_MS } from "../support/until.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

const LIMITS = { total: 64, perWebhook: 4, perHost: 8 };

test("a dead receiver with a large backlog does not delay a healthy one", async () => {
  await using world = new WebhookWorld({ timeoutMs: 2 * PATIENCE_MS });
  await using dead = await startReceiverWith(() => undefined);
  await using healthy = await startReceiverWith((response) => response.end());
  world.addWebhook(dead.url);
  world.post(20_000);
  world.addWebhook(healthy.url);
  world.deliverer.start();
  await expect.poll(() => dead.received.length).toBe(4);
  world.post(200);
  await expect.poll(() => healthy.received.length).toBe(200);
  expect(dead.received).toHaveLength(4);
});

test("while a failing receiver takes its time, nothing is planned until it answers", async () => {
  await using world = new WebhookWorld();
  const held: (() => void)[] = [];
  await using receiver = await startReceiverWith((response, _, index) => {
    if (index < 4) response.writeHead(500).end();
    else held.push(() => response.end());
  });
  world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post(20);
  await expect.poll(() => held.length).toBe(1);
  expect(world.deliverer.nextWakeAt()).toBeNull();
  held[0]!();
  await expect.poll(() => held.length).toBe(5);
});

test("attempts at once stay within the limits of webhook, host and all", async () => {
  const running = { now: 0, most: 0 };
  const byHook = new Map<string, { now: number; most: number }>();
  await using receiver = await startReceiverWith((response, { path }) => {
    const hook = byHook.get(path) ?? { now: 0, most: 0 };
    byHook.set(path, hook);
    for (const counted of [running, hook]) counted.most = Math.max(counted.most, (counted.now += 1));
    setTimeout(() => {
      for (const counted of [running, hook]) counted.now -= 1;
      response.end();
    }, 3);
  });
  const cases: [limits: typeof LIMITS, atOnce: number, perHook: number][] = [
    [LIMITS, 8, 4],
    [{ total: 5, perWebhook: 4, perHost: 8 }, 5, 4],
    [{ total: 64, perWebhook: 2, perHost: 64 }, 12, 2],
  ];
  for (const [limits, atOnce, perHook] of cases) {
    await using world = new WebhookWorld({ limits });
    running.most = 0;
    byHook.clear();
    for (let index = 0; index < 6; index += 1) world.addWebhook(`${receiver.url}/${index}`);
    world.post(40);
    world.deliverer.start();
    await world.settle();
    expect(world.states()).toEqual({ delivered: 240 });
    expect(running.most).toBe(atOnce);
    for (const { most } of byHook.values()) expect(most).toBeLessThanOrEqual(perHook);
  }
});

test("a webhook gets its turn however many others have more to send", async () => {
  const order: string[] = [];
  await using receiver = await startReceiverWith((response, { path }) => {
    order.push(path);
    setTimeout(() => response.end(), 1);
  });
  await using world = new WebhookWorld({ limits: { total: 2, perWebhook: 2, perHost: 2 } });
  for (let index = 0; index < 5; index += 1) world.addWebhook(`${receiver.url}/${index}`);
  world.post(50);
  world.deliverer.start();
  await world.settle();
  for (let index = 0; index < 5; index += 1) {
    expect(order.slice(0, 30).filter((path) => path.endsWith(`/${index}`)).length).toBeGreaterThan(2);
  }
});

test("the deadline runs from when an attempt has a slot, so a full house makes no false timeouts", async () => {
  await using receiver = await startReceiverWith((response) => setTimeout(() => response.end(), 600));
  await using world = new WebhookWorld({ timeoutMs: 1700, limits: { total: 2, perWebhook: 2, perHost: 2 } });
  world.addWebhook(receiver.url);
  world.post(6);
  world.deliverer.start();
  await world.settle();
  expect(receiver.received).toHaveLength(6);
  expect(world.states()).toEqual({ delivered: 6 });
});

test("several dead receivers hold few slots after their first failures", async () => {
  await using world = new WebhookWorld({ timeoutMs: 300, limits: { total: 12, perWebhook: 4, perHost: 12 } });
  await using dead = await startReceiverWith(() => undefined);
  await using healthy = await startReceiverWith((response) => response.end());
  for (let index = 0; index < 6; index += 1) world.addWebhook(`${dead.url}/${index}`);
  world.post(50);
  world.deliverer.start();
  await expect.poll(() => dead.received.length).toBeGreaterThan(11);
  world.addWebhook(healthy.url);
  world.post(20);
  await expect.poll(() => healthy.received.length, { timeout: 5000 }).toBe(20);
});
