import { expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { silentLog } from "../support/silent-log.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

/** Transactions whose end is heard when it is let through, as over a network. */
class SlowRounds {
  readonly #waiting: (() => void)[] = [];
  #isHeard = false;

  constructor(world: WebhookWorld) {
    const { db, outbox, transport, clock } = world;
    const slow: Database = {
      ...db,
      relaxedTransaction: async (work) => {
        const result = await db.relaxedTransaction(work);
        if (!this.#isHeard) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        return result;
      },
    };
    const log = silentLog;
    const parts = { outbox, transports: [transport], clock, log, random: () => 0 };
    world.deliverer = new Deliverer({ db: slow, claims: createClaims(db), ...parts });
    world.deliverer.start();
  }

  /** The end of a transaction waits to be heard. */
  async untilWaiting(): Promise<void> {
    await expect.poll(() => this.#waiting.length).toBe(1);
  }

  /** Lets the end of one transaction through. */
  async hear(): Promise<void> {
    await this.untilWaiting();
    this.#waiting.shift()!();
  }

  /** Lets every end through from now on. */
  hearAll(): void {
    this.#isHeard = true;
    for (const heard of this.#waiting.splice(0)) heard();
  }
}

test("an attempt that ends while a round is under way is recorded once, by a later round", async () => {
  await using world = new WebhookWorld({ limits: { total: 2, perHost: 2, perWebhook: 2 } });
  const answers: (() => void)[] = [];
  await using receiver = await startReceiverWith((response) => answers.push(() => response.end()));
  world.addWebhook(receiver.url);
  world.post(3);
  const slow = new SlowRounds(world);
  await slow.hear();
  await slow.hear();
  await expect.poll(() => answers.length).toBe(2);
  answers.shift()!();
  // The round that records the first attempt and claims the third message is committed, and nobody has heard of it.
  await expect.poll(() => world.states()).toEqual({ delivered: 1, sending: 2 });
  answers.shift()!();
  await slow.untilWaiting();
  slow.hearAll();
  await expect.poll(() => answers.length).toBe(1);
  answers.shift()!();
  await expect.poll(() => world.states()).toEqual({ delivered: 3 });
  expect(receiver.received).toHaveLength(3);
  expect(world.inconsistencies()).toEqual([]);
});

test("what was claimed by a round that ends after the stop goes back, and nothing of it is sent", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  world.addWebhook(receiver.url);
  world.post(3);
  const slow = new SlowRounds(world);
  await slow.hear();
  await expect.poll(() => world.states()).toEqual({ sending: 3 });
  const stopped = world.deliverer.stop(1000);
  slow.hearAll();
  await stopped;
  expect(world.states()).toEqual({ pending: 3 });
  expect(receiver.received).toEqual([]);
  await world.restart();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 3 });
  expect(world.inconsistencies()).toEqual([]);
});

test("a change that is told while recipients are read makes them be read again", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const slow = new SlowRounds(world);
  await slow.untilWaiting();
  world.addWebhook(receiver.url);
  world.post(1);
  slow.hearAll();
  await expect.poll(() => world.states()).toEqual({ delivered: 1 });
});
