import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { monthOf } from "../../src/foundation/clock.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import {
  dropExpired,
  dropHeldPostRows,
  type HeldPostPage,
  listHeldPosts,
} from "../../src/submissions/held/held-post.ts";
import { findMark } from "../../src/history/teach.ts";
import { getSubmission } from "../../src/submissions/stored/submission-store.ts";
import { queuedDeliveries } from "../support/webhook-world.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { getWorkspace } from "../../src/workspaces/workspace-store.ts";
import { readUsage } from "../../src/workspaces/usage-store.ts";
import { getHeldPost } from "../support/held-posts.ts";
import { type Receiving, receiving } from "../support/receiving.ts";
import { releasePost } from "../support/terminal.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const pitch = {
  name: "Sam",
  email: "sam@example.org",
  message:
    "I came across your website. We offer SEO and backlinks with guaranteed first page of Google rankings and a free audit: https://bit.ly/abc",
};
const genuine = { name: "Ana", email: "ana@example.org", message: "Are you open on Sunday?" };
const plain = createKeyring(defaultConfig.secrets);
const receiver = { ...defaultWebhookSettings, url: "http://receiver.example.org/", maxSpamScore: 75 };
const any = { endpointIds: null, since: null, until: null };

function heldIn({ db }: Receiving): HeldPostPage["data"] {
  return db.now(() => listHeldPosts(any, 100, null)).data;
}

function partsOf({ db, config }: Receiving) {
  return { db, plans: config.plans };
}

function used({ db, workspaceId, clock, config }: Receiving): number {
  return db.now(function* () {
    const workspace = yield* getWorkspace(workspaceId);
    return (yield* readUsage(workspace, monthOf(clock.now()), config.plans)).used;
  });
}

const oneAMonth = {
  plans: {
    hobby: { monthlySubmissions: 1, endpoints: 3, customSpam: false, heldBytes: null, fileBytes: null },
  },
};

test("a blocked post is kept with its score and reasons, and uses nothing of the month", async () => {
  const service = await receiving();
  expect(await service.submit(pitch)).toBe("spam_blocked");
  const [held] = heldIn(service);
  expect(held).toMatchObject({ why: "spam", data: pitch, spamClass: "blocked", ipAddress: "192.0.2.7" });
  expect(held?.spamReasons.reduce((sum, { points }) => sum + points, 0)).toBe(held?.spamScore);
  expect(used(service)).toBe(0);
});

test("a released post becomes a submission of the time it arrived: counted, notified, low, a lesson, and held no more", async () => {
  const service = await receiving();
  await service.submit(pitch);
  const arrived = service.clock.now();
  const [held] = heldIn(service);
  service.clock.advance(86_400_000);
  service.db.now(() => insertWebhookRows(plain, service.endpointId, receiver, arrived));
  const released = await releasePost(partsOf(service), held?.id ?? "", service.clock.now());
  expect(service.db.now(() => getSubmission(released.id))).toMatchObject({
    createdAt: arrived,
    data: pitch,
    spamScore: 0,
    spamClass: "low",
  });
  expect(released.spamReasons.reduce((sum, { points }) => sum + points, 0)).toBe(0);
  const deliveries = queuedDeliveries(service.db);
  expect(deliveries).toMatchObject([{ submissionId: released.id, state: "pending" }]);
  expect(used(service)).toBe(1);
  expect(service.db.now(() => findMark(released.id))).toBe("ham");
  expect(heldIn(service)).toEqual([]);
  await expect(releasePost(partsOf(service), held?.id ?? "", 0)).rejects.toThrow("no held post");
});

test("the same sender's same message passes after a release", async () => {
  const service = await receiving();
  await service.submit(pitch);
  await releasePost(partsOf(service), heldIn(service)[0]?.id ?? "", service.clock.now());
  expect(await service.submit(pitch)).toMatch(/^sub_/);
});

test("a post over the monthly limit is kept, and its release waits for the plan or the next month", async () => {
  const service = await receiving(oneAMonth);
  expect(await service.submit(genuine)).toMatch(/^sub_/);
  expect(await service.submit({ ...genuine, name: "Bea" })).toBe("submission_limit");
  const [held] = heldIn(service);
  expect(held).toMatchObject({ why: "limit", data: { name: "Bea" }, spamClass: "low" });
  const release = () => releasePost(partsOf(service), held?.id ?? "", service.clock.now());
  await expect(release()).rejects.toThrow("all are used");
  service.clock.advance(30 * DAY_MS);
  const { id } = await release();
  expect(service.db.now(() => findMark(id))).toBeNull();
  expect(used(service)).toBe(1);
});

test("posts that one command releases are each notified once", async () => {
  const service = await receiving();
  await service.submit(pitch);
  await service.submit({ ...pitch, email: "sam@example.net" });
  service.db.now(() => insertWebhookRows(plain, service.endpointId, receiver, service.clock.now()));
  const released: string[] = [];
  for (const { id } of heldIn(service))
    released.push((await releasePost(partsOf(service), id, service.clock.now())).id);
  expect(released).toHaveLength(2);
  expect(queuedDeliveries(service.db).map(({ submissionId }) => submissionId)).toEqual(released);
});

test("a release that fails half-way changes nothing", async () => {
  const service = await receiving();
  await service.submit(pitch);
  const [held] = heldIn(service);
  service.db.now(() => insertWebhookRows(plain, service.endpointId, receiver, service.clock.now()));
  service.db.execute(
    "CREATE TRIGGER broken BEFORE INSERT ON outbox BEGIN SELECT raise(ABORT, 'the outbox is broken'); END",
  );
  await expect(releasePost(partsOf(service), held?.id ?? "", service.clock.now())).rejects.toThrow(
    "the outbox is broken",
  );
  expect(heldIn(service)).toEqual([held]);
  expect(used(service)).toBe(0);
});

test("a post over the limit that would have been refused anyway is not kept", async () => {
  const service = await receiving(oneAMonth);
  await service.submit(genuine);
  expect(await service.submit({ message: 7 })).toBe("submission_limit");
  expect(heldIn(service)).toEqual([]);
});

test("a client that tries again with the same Idempotency-Key is kept once", async () => {
  const service = await receiving(oneAMonth);
  await service.submit(genuine);
  for (let attempt = 0; attempt < 3; attempt += 1) await service.submit(genuine, { idempotencyKey: "again" });
  await service.submit(genuine, { idempotencyKey: "other" });
  expect(heldIn(service)).toHaveLength(2);
});

test("a corrected post with the same Idempotency-Key is kept beside the first, as spam and over the limit", async () => {
  for (const [config, post] of [
    [oneAMonth, genuine],
    [{}, pitch],
  ] as const) {
    const service = await receiving(config);
    await service.submit(genuine);
    for (const name of ["first", "corrected", "first", "corrected"])
      await service.submit({ ...post, name }, { idempotencyKey: "one" });
    expect(heldIn(service).map(({ data }) => data["name"])).toEqual(["corrected", "first"]);
  }
});

test("when too many are held, posts that filled a honeypot go before others, then the oldest", async () => {
  const service = await receiving({
    held: { days: 30, maxPerWorkspace: 2, maxBytes: null, maxFileBytes: 0 },
  });
  const send = async (name: string, more: object = {}) => {
    service.clock.advance(1000);
    await service.submit({ ...pitch, name, ...more });
  };
  await send("first");
  await send("second");
  await send("trapped", { _gotcha: "x" });
  expect(heldIn(service).map(({ data }) => data["name"])).toEqual(["second", "first"]);
  await send("third");
  expect(heldIn(service).map(({ data }) => data["name"])).toEqual(["third", "second"]);
});

test("held posts expire after the configured days and not before", async () => {
  const service = await receiving();
  await service.submit(pitch);
  const days = defaultConfig.held.days;
  service.clock.advance(30 * DAY_MS - 60_000);
  expect(service.db.now(() => dropExpired(days, service.clock.now()))).toBe(0);
  service.clock.advance(120_000);
  expect(service.db.now(() => dropExpired(null, service.clock.now()))).toBe(0);
  expect(service.db.now(() => dropExpired(days, service.clock.now()))).toBe(1);
});

test("dropping is all or nothing, and pages are complete", async () => {
  const service = await receiving();
  for (let count = 0; count < 5; count += 1) {
    service.clock.advance(1000);
    await service.submit({ ...pitch, name: `n${count}` });
  }
  const first = service.db.now(() => listHeldPosts(any, 3, null));
  const second = service.db.now(() => listHeldPosts(any, 3, first.nextCursor));
  expect([...first.data, ...second.data].map(({ data }) => data["name"])).toEqual([
    "n4",
    "n3",
    "n2",
    "n1",
    "n0",
  ]);
  expect(second.nextCursor).toBeNull();
  const ids = heldIn(service).map(({ id }) => id);
  expect(() =>
    service.db.now(() => dropHeldPostRows([ids[0] ?? "", "held_00000000000000000000000000"])),
  ).toThrow("nothing was dropped");
  expect(service.db.now(() => getHeldPost(ids[0] ?? "")).id).toBe(ids[0]);
  service.db.now(() => dropHeldPostRows(ids));
  expect(heldIn(service)).toEqual([]);
});
