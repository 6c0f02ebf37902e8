import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import { parseConditions } from "../../src/outbox/queue/conditions.ts";
import { REPLY_KIND } from "../../src/outbox/queue/recipient.ts";
import { listConditioned } from "../../src/outbox/queue/recipient-store.ts";
import { checkConditionFields } from "../../src/recipients/condition-health.ts";
import { releaseHeldPostRow } from "../../src/submissions/held/release-held.ts";
import { findNotSent } from "../../src/submissions/stored/submission-store.ts";
import { addPlace, batchServer, outcomesOf, type Place } from "../support/batch-world.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { getHeldPost } from "../support/held-posts.ts";

const FIELDS = { topic: {}, budget: {} };
const PLANS = defaultConfig.plans;

/** The recipients for whom messages wait, and the bodies that stand in submissions. */
async function queued(db: Database) {
  const rows = await rowsOf<{ recipient_id: string; messages: string }>(db, "SELECT * FROM outbox");
  return rows
    .flatMap(({ recipient_id: id, messages }) =>
      (JSON.parse(messages) as [string, string][]).map(([, submissionId]) => ({ id, submissionId })),
    )
    .toSorted((one, other) => (one.id + one.submissionId < other.id + other.submissionId ? -1 : 1));
}

async function add(place: Place, ...written: string[]): Promise<string> {
  return place.recipient(100, "webhook", parseConditions(written));
}

/** For posts without files. */
function noFiles(): never {
  throw new Error("there are no files to link");
}

describe.each(ENGINES)("conditions on $name", ({ temporary }) => {
  test("decide in the post's transaction who gets it, and what was left out stands beside the post", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const everyone = await place.recipient(100);
    const sales = await add(place, "topic=sales");
    const large = await add(place, "topic=sales", "budget>1000");
    const posts = [
      { topic: "Sales", budget: 2000 },
      { topic: "sales", budget: 10 },
      { topic: "support" },
    ].map((data) => place.pending({ of: { data }, fields: FIELDS }));
    await outcomesOf(batchServer(db), posts);
    const [first, second, third] = posts.map(({ submission }) => submission.id) as [string, string, string];
    const wanted = [
      ...[first, second, third].map((submissionId) => ({ id: everyone, submissionId })),
      ...[first, second].map((submissionId) => ({ id: sales, submissionId })),
      { id: large, submissionId: first },
    ];
    expect(await queued(db)).toEqual(
      wanted.toSorted((one, other) => (one.id + one.submissionId < other.id + other.submissionId ? -1 : 1)),
    );
    const notSent = (id: string) => db.read(() => findNotSent(id));
    expect(await notSent(first)).toEqual([]);
    const tooSmall = { id: large, kind: "webhook", field: "budget", is: ">", value: "1000" };
    expect(await notSent(second)).toEqual([tooSmall]);
    const offTopic = { kind: "webhook", field: "topic", is: "=", value: "sales" };
    const leftOut = await notSent(third);
    expect(leftOut).toHaveLength(2);
    expect(leftOut).toEqual(
      expect.arrayContaining([
        { id: sales, ...offTopic },
        { id: large, ...offTopic },
      ]),
    );
  });

  test("that keep everybody from a post leave it without a message, and the post is stored", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    await add(place, "topic=sales");
    const post = place.pending({ of: { data: { topic: "support \0 \ud800" } }, fields: FIELDS });
    expect(await outcomesOf(batchServer(db), [post])).toEqual(["stored"]);
    expect(await queued(db)).toEqual([]);
    const rows = "SELECT event_head, event_tail FROM submission";
    expect(await rowsOf(db, rows)).toEqual([{ event_head: null, event_tail: null }]);
    expect(await db.read(() => findNotSent(post.submission.id))).toHaveLength(1);
  });

  test("on a field that the post's schema has not are met: nothing is lost by a changed form", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const id = await add(place, "topic=sales");
    const post = place.pending({ of: { data: { message: "hello" } }, fields: { message: {} } });
    await outcomesOf(batchServer(db), [post]);
    expect(await queued(db)).toEqual([{ id, submissionId: post.submission.id }]);
    expect(await db.read(() => findNotSent(post.submission.id))).toEqual([]);
    const [finding] = await db.read(checkConditionFields);
    expect(finding).toMatchObject({
      name: "notifications.conditions",
      ok: false,
      advice: { kind: "change_conditions", recipientId: id },
    });
    expect(await db.read(() => listConditioned(null, 10))).toHaveLength(1);
  });

  test("keep no automatic reply back, and say nothing of recipients that the score keeps back", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const reply = await place.recipient(100, REPLY_KIND);
    await place.recipient(20, "webhook", parseConditions(["topic=sales"]));
    const post = place.pending({ of: { data: { topic: "support" }, spamScore: 30 }, fields: FIELDS });
    await outcomesOf(batchServer(db, { mayReply: () => ALWAYS() }), [post]);
    expect((await queued(db)).map(({ id }) => id)).toEqual([reply]);
    expect(await db.read(() => findNotSent(post.submission.id))).toEqual([]);
  });

  test("hold for a held post that is released too", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const everyone = await place.recipient(100);
    const named = await add(place, "name=Ana");
    const held = place.held();
    await outcomesOf(batchServer(db), [held]);
    const released = await db.transaction(function* () {
      return yield* releaseHeldPostRow(yield* getHeldPost(held.held.id), PLANS, NOON, noFiles);
    });
    expect((await queued(db)).map(({ id }) => id)).toEqual([everyone]);
    expect(await db.read(() => findNotSent(released.id))).toMatchObject([{ id: named, field: "name" }]);
  });

  test("go with a submission's row when it is deleted, and leave other bodies as they were", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const everyone = await place.recipient(100);
    const post = place.pending({ fields: FIELDS });
    await outcomesOf(batchServer(db), [post]);
    const [row] = await rowsOf<Record<string, unknown>>(db, "SELECT event_tail, not_sent FROM submission");
    expect(row?.["not_sent"]).toBeNull();
    expect(row?.["event_tail"]).not.toContain("not_sent");
    await write(db, `DELETE FROM recipient WHERE id = '${everyone}'`);
    expect(await db.read(() => findNotSent(post.submission.id))).toEqual([]);
  });
});

// oxlint-disable-next-line require-yield -- it asks nothing
function* ALWAYS() {
  return true;
}
