import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLog } from "../../src/foundation/log.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

test("a database that a command holds again and again is not logged, and one that is held for five seconds is", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  world.addWebhook(receiver.url);
  const lines: string[] = [];
  const { db, outbox, transport, clock } = world;
  const log = createLog("warn", { write: (line: string) => lines.push(line) });
  const parts = { outbox, transports: [transport], clock, log, random: () => 0 };
  world.deliverer = new Deliverer({ db, claims: createClaims(db), ...parts });
  world.deliverer.start();
  const other = world.openDatabase();
  for (let time = 1; time <= 3; time += 1) {
    world.post(1);
    other.execute("BEGIN IMMEDIATE");
    world.deliverer.wake();
    await sleep(400);
    other.execute("COMMIT");
    await expect.poll(() => receiver.received.length).toBe(time);
  }
  expect(lines).toEqual([]);

  world.post(1);
  other.execute("BEGIN IMMEDIATE");
  world.deliverer.wake();
  await expect.poll(() => lines.join(""), { timeout: 10_000 }).toContain("delivery.waiting");
  other.execute("COMMIT");
  other.close();
  await expect.poll(() => receiver.received.length).toBe(4);
});
