import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { getDelivery, listAttempts, listDeliveries } from "../../src/outbox/queue/delivery-store.ts";
import { queueSubmission } from "../../src/outbox/queue/queue-submission.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import { recoverDeliveries } from "../../src/outbox/sending/recover-deliveries.ts";
import { claimDue, earliestDue, finish } from "../support/claims.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { dropOld, ANSWERED, WebhookWorld } from "../support/webhook-world.ts";
import { all, run } from "../../src/database/steps.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** As at the start of a process. Returns how many deliveries went back into the queue. */
function recover({ db, transport }: WebhookWorld, now: number): number {
  return db.now(function* () {
    return yield* recoverDeliveries(yield* createClaims(db).readAbandoned(), [transport], now);
  });
}

test("submissions and their deliveries are stored together or not at all", async () => {
  await using world = new WebhookWorld();
  world.addWebhook("https://example.com/");
  let woken = 0;
  world.outbox.onQueued(() => {
    woken += 1;
  });
  // The row of the outbox is the last thing that the transaction writes.
  world.db.execute(
    "CREATE TRIGGER broken AFTER INSERT ON outbox BEGIN SELECT raise(ABORT, 'taken back'); END",
  );
  expect(() => world.post()).toThrow("taken back");
  world.db.execute("DROP TRIGGER broken");
  expect(world.db.now(() => all(query.selectFrom("submission").select("id")))).toEqual([]);
  expect([woken, [...world.outbox.takeTouched()]]).toEqual([0, []]);
  expect(queuedRows(world)).toEqual([]);
  expect(world.states()).toEqual({});
  world.post(2);
  expect(woken).toBe(1);
  expect(world.states()).toEqual({ pending: 2 });
});

test("steps queue one submission in their own transaction, for everybody who wants it", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/", { maxSpamScore: 50 });
  const told = { id: "sub_x", endpointId: world.endpointId, ipAddress: "", userAgent: "", createdAt: 1 };
  const queue = (spamScore: number, isSound = true) =>
    world.db.transaction(function* () {
      const event = yield* queueSubmission({ ...told, spamScore }, 1);
      if (!isSound) throw new Error("taken back");
      return event;
    });
  await expect(queue(0, false)).rejects.toThrow("taken back");
  expect(await queue(100)).toEqual({ head: null, tail: null, notSent: null });
  expect(queuedRows(world)).toEqual([]);
  expect((await queue(0)).head).toContain("submission.created");
  expect(queuedRows(world)).toEqual([{ recipient_id: webhook.id }]);
});

function queuedRows(world: WebhookWorld) {
  return world.db.now(() => all(query.selectFrom("outbox").select("recipient_id")));
}

test("a claim belongs to one attempt: a result that comes late is not recorded", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.post();
  await world.spread();
  const now = world.clock.now();
  const [claimed] = claimDue(world.db, webhook.id, 4, now);
  expect(claimDue(world.db, webhook.id, 4, now)).toEqual([]);
  recover(world, now);
  const late = { delivery: claimed!, transport: world.transport, result: ANSWERED, random: 0 };
  expect(finish(world.db, [late], now)).toEqual([null]);
  expect(world.db.now(() => getDelivery(claimed!.id))).toMatchObject({
    state: "pending",
    attempts: 1,
    spent: 0,
  });
  expect(world.inconsistencies()).toEqual([]);
});

test("interrupted deliveries go out again, later each time in a row, and run out in the end", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.post();
  await world.spread();
  const waits: number[] = [];
  for (;;) {
    const due = earliestDue(world.db, webhook.id);
    if (due === null) break;
    waits.push((due - world.clock.now()) / 1000);
    world.clock.set(due);
    claimDue(world.db, webhook.id, 1, due);
    expect(recover(world, due)).toBe(1);
  }
  expect(waits.slice(0, 6)).toEqual([0, 5, 30, 120, 600, 1800]);
  const [id] = world.deliveryIds();
  expect(world.db.now(() => getDelivery(id!))).toMatchObject({ state: "failed", attempts: 17, spent: 13 });
  expect(world.db.now(() => listAttempts(id!)).every(({ outcome }) => outcome === "interrupted")).toBe(true);
});

test("deliveries interrupted while their webhook was disabled are held", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.post();
  await world.spread();
  claimDue(world.db, webhook.id, 1, world.clock.now());
  world.db.now(() => run(query.updateTable("recipient").set({ state: "disabled" })));
  recover(world, world.clock.now());
  expect(world.states()).toEqual({ held: 1 });
});

test("while the database refuses, nothing is sent, no result is lost, and it goes on afterwards", async () => {
  await using world = new WebhookWorld();
  const release: (() => void)[] = [];
  await using receiver = await startReceiverWith((response) => release.push(() => response.end()));
  world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post(10);
  await expect.poll(() => release.length).toBe(4);
  const other = openDatabase(world.db.path, { busyTimeoutMs: 0 });
  other.execute("BEGIN IMMEDIATE");
  for (const answer of release.splice(0)) answer();
  world.deliverer.wake();
  await new Promise((resolve) => setTimeout(resolve, 800));
  expect(receiver.received).toHaveLength(4);
  expect(world.states()).toEqual({ sending: 4, pending: 6 });
  other.execute("ROLLBACK");
  other.close();
  await expect
    .poll(() => {
      for (const answer of release.splice(0)) answer();
      return world.states();
    })
    .toEqual({ delivered: 10 });
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(10);
  expect(receiver.received).toHaveLength(10);
  expect(world.inconsistencies()).toEqual([]);
});

test("stopping waits for what is in flight, ends the rest, and records both", async () => {
  await using world = new WebhookWorld();
  let quick: (() => void) | null = null;
  await using receiver = await startReceiverWith((response, _, index) => {
    if (index === 0) quick = () => response.end();
  });
  world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post(4);
  await expect.poll(() => receiver.received.length).toBe(4);
  const stopped = world.deliverer.stop(300);
  quick!();
  world.post(1);
  await stopped;
  expect(world.states()).toEqual({ delivered: 1, pending: 4 });
  expect(receiver.received).toHaveLength(4);
  const outcomes = world
    .deliveryIds()
    .flatMap((id) => world.db.now(() => listAttempts(id)).map(({ outcome }) => outcome));
  expect(outcomes.sort()).toEqual(["delivered", "interrupted", "interrupted", "interrupted"]);
  expect(world.inconsistencies()).toEqual([]);
});

test("a stop that is asked for again, meanwhile or afterwards, is the same one", async () => {
  await using world = new WebhookWorld();
  world.deliverer.start();
  const [first, meanwhile] = [world.deliverer.stop(0), world.deliverer.stop(60_000)];
  await first;
  await meanwhile;
  await expect(world.deliverer.stop(60_000)).resolves.toBeUndefined();
});

test("what is queued after the stop plans nothing more, and waits for the next start", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const { webhook } = world.addWebhook(receiver.url);
  world.deliverer.start();
  const stopped = world.deliverer.stop(0);
  world.post(1);
  await stopped;
  world.post(1);
  world.deliverer.wake();
  world.deliverer.reload();
  await new Promise((resolve) => setTimeout(resolve, 100));
  // A round would have taken it.
  expect(queuedRows(world)).toContainEqual({ recipient_id: webhook.id });
  expect(receiver.received).toEqual([]);
  await world.restart();
  await expect.poll(() => world.states()).toEqual({ delivered: 2 });
});

test("delivered messages are dropped after their days with attempts and bodies, others stay", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response, { body }) => {
    response.writeHead(body.includes('"bad"') ? 404 : 200).end();
  });
  world.addWebhook(receiver.url);
  world.deliverer.start();
  world.post(1, { message: "bad" });
  await world.runAmongOthers(world.clock.now() + 4 * DAY_MS);
  world.post(600 - (world.states()["delivered"] ?? 0));
  await world.settle();
  expect(world.states()).toEqual({ delivered: 600, failed: 1 });
  expect(dropOld(world, 30)).toBe(0);
  world.clock.advance(31 * DAY_MS);
  expect(dropOld(world, null)).toBe(0);
  expect(dropOld(world, 30)).toBe(500);
  expect(dropOld(world, 30)).toBe(100);
  expect(world.states()).toEqual({ failed: 1 });
  expect(world.db.now(() => all(submissionsWithBody))).toHaveLength(1);
  expect(world.db.now(() => all(query.selectFrom("attempt").select("number")))).toHaveLength(13);
  expect(world.db.now(() => all(query.selectFrom("submission").select("id")))).toHaveLength(601);
});

test("a body stays as long as one of its deliveries does", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.end());
  const { webhook } = world.addWebhook(receiver.url);
  world.addWebhook("http://10.0.0.1/");
  world.deliverer.start();
  world.post();
  await expect.poll(() => receiver.received.length).toBe(1);
  await world.deliverer.stop(1000);
  world.clock.advance(31 * DAY_MS);
  expect(dropOld(world, 30)).toBe(1);
  expect(world.db.now(() => listDeliveries({ ...ALL, recipientId: webhook.id })).deliveries).toEqual([]);
  expect(world.db.now(() => all(submissionsWithBody))).toHaveLength(1);
});

const submissionsWithBody = query.selectFrom("submission").select("id").where("event_head", "is not", null);

const ALL = { kinds: null, recipientId: null, submissionId: null, state: null, cursor: null, limit: 10 };

test("delivered messages are found behind ten thousand others, on a later page", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.post(1);
  await world.spread();
  const [first = ""] = world.deliveryIds();
  world.db.execute(`UPDATE delivery SET state = 'delivered', finished_at = 1;
    INSERT INTO delivery (id, submission_id, recipient_id, state, due_at)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
      SELECT 'msg_7' || printf('%025d', n), submission_id, recipient_id, 'failed', 0 FROM numbers, delivery`);
  const delivered = { ...ALL, recipientId: webhook.id, state: "delivered" } as const;
  const page = world.db.now(() => listDeliveries(delivered));
  expect(page.deliveries).toEqual([]);
  expect(page.nextCursor).toBe(`msg_7${"1".padStart(25, "0")}`);
  const next = world.db.now(() => listDeliveries({ ...delivered, cursor: page.nextCursor }));
  expect(next).toMatchObject({ deliveries: [{ id: first }], nextCursor: null });
  const failed = world.db.now(() => listDeliveries({ ...delivered, state: "failed", limit: 3 }));
  expect(failed.deliveries.map(({ id }) => id.slice(-5))).toEqual(["10000", "09999", "09998"]);
});

test("deliveries are listed newest first, page by page, by webhook, submission and state", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  world.addWebhook("https://example.org/");
  const [first] = world.post(13);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = world.db.now(() => listDeliveries({ ...ALL, cursor }));
    seen.push(...page.deliveries.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(seen).toEqual(world.deliveryIds().toReversed());
  expect(world.db.now(() => listDeliveries({ ...ALL, submissionId: first! })).deliveries).toHaveLength(2);
  expect(
    world.db.now(() => listDeliveries({ ...ALL, limit: 50, recipientId: webhook.id })).deliveries,
  ).toHaveLength(13);
  expect(world.db.now(() => listDeliveries({ ...ALL, state: "failed" })).deliveries).toEqual([]);
});
