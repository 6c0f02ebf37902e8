import { expect, test } from "vitest";
import { replayRange } from "../../src/outbox/queue/replay-deliveries.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import { deleteRecipient } from "../../src/outbox/queue/recipient-store.ts";
import { webhookOperations } from "../../src/webhooks/webhook-operations.ts";
import { countTurns } from "../support/count-turns.ts";
import { performOn } from "../support/terminal.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

/** Of more than three batches of messages. */
const MESSAGES = 1600;
const EVERYTHING = { kind: "webhook", failedOnly: false, since: null, until: null };

/** Adds a webhook with that many messages and one more. Returns its id. */
async function addMany(world: WebhookWorld): Promise<string> {
  const { id } = world.addWebhook("https://example.com/").webhook;
  world.post(1);
  await world.spread();
  world.db.execute(`INSERT INTO delivery (id, submission_id, recipient_id, state, due_at)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MESSAGES})
    SELECT 'msg_0' || printf('%025d', n), submission_id, recipient_id, 'failed', 0 FROM numbers, delivery`);
  return id;
}

test("posts have their turn between the batches of messages that a webhook's owner moves, sends again or deletes", async () => {
  await using world = new WebhookWorld();
  const id = await addMany(world);
  const { db, clock } = world;
  clock.advance(1000);
  const range = { ...EVERYTHING, recipientId: id };
  const replayed = countTurns(() => replayRange(db, range, { asNew: false, now: clock.now() }));
  expect(await replayed).toBeGreaterThan(3);
  const disable = (): Promise<unknown> =>
    performOn(db, webhookOperations.disable, { webhook: id }, { now: clock.now() });
  expect(await countTurns(disable)).toBeGreaterThan(3);
  expect(world.states()).toEqual({ held: MESSAGES + 1 });
  expect(await countTurns(() => deleteRecipient(db, id, clock.now()))).toBeGreaterThan(3);
  expect(world.states()).toEqual({});
});

test("posts have their turn while the outbox is spread, and those that come meanwhile do not make it endless", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  world.post(MESSAGES);
  let came = 0;
  let isOver = false;
  const come = (): void => {
    if (isOver) return;
    world.post(1);
    came += 1;
    setImmediate(come);
  };
  setImmediate(come);
  await spreadOutbox(world.db, world.clock.now());
  isOver = true;
  expect(came).toBeGreaterThan(3);
  expect(world.db.prepare("SELECT count(*) FROM delivery").pluck().get()).toBeGreaterThanOrEqual(MESSAGES);
});
