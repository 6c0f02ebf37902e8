import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import type { Database } from "../../src/database/database.ts";
import { newId } from "../../src/foundation/id.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { exportSubmissions } from "../../src/submissions/export/export-submissions.ts";
import {
  dropAllHeld,
  dropHeld,
  listHeld,
  releaseHeld,
  showHeld,
} from "../../src/submissions/held/held-operations.ts";
import { listRead } from "../../src/submissions/stored/read-marks.ts";
import {
  listSubmissions,
  markSubmissionsAs,
  markSubmissionsRead,
  showSubmission,
} from "../../src/submissions/manage/submission-operations.ts";
import { deleteSubmissions } from "../../src/submissions/manage/work-operations.ts";
import { tailSubmissions } from "../../src/submissions/find/tail-submissions.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { partsOn, performOn } from "../support/terminal.ts";
import { plans, twoOwners } from "../support/two-owners.ts";

const searches = null;
const parts = { searches, committed: () => Promise.resolve() };

/** What each read gives, by the names that the posts have. */
async function seenBy(db: Database, actor: Actor, input: { endpoint?: string; workspace?: string } = {}) {
  const door = { actor, parts };
  const names = (posts: readonly { readonly data: Record<string, unknown> }[]): string[] =>
    posts.map(({ data }) => String(data["name"])).toSorted((one, other) => one.localeCompare(other));
  const exported = await partsOn(db, exportSubmissions, { ...input, format: "ndjson" }, door);
  const lines = exported
    .map(({ text }) => text)
    .join("")
    .split("\n")
    .filter((line) => line !== "");
  return {
    list: names((await performOn(db, listSubmissions, input, door)).data),
    tail: names(await partsOn(db, tailSubmissions, input, door)),
    export: names(lines.map((line) => JSON.parse(line) as never)),
    held: names((await performOn(db, listHeld, input, door)).data),
  };
}

const each = (...names: string[]) => ({ list: names, tail: names, export: names, held: names });

/** Everything that reaches posts by their ids. */
function reachAll(db: Database, actor: Actor, { submission, held }: { submission: string; held: string }) {
  const door = { actor, plans };
  const submissions = [submission];
  return {
    show: () => performOn(db, showSubmission, { submission }, door),
    mark: () => performOn(db, markSubmissionsAs, { submissions, mark: "spam" }, door),
    read: () => performOn(db, markSubmissionsRead, { submissions }, door),
    delete: () => performOn(db, deleteSubmissions, { submissions }, door),
    showHeld: () => performOn(db, showHeld, { held }, door),
    release: () => performOn(db, releaseHeld, { held }, door),
    drop: () => performOn(db, dropHeld, { held: [held] }, door),
  };
}

/** Codes and messages, without the ids. */
async function refusalsOf(asked: Readonly<Record<string, () => Promise<unknown>>>) {
  const refusals: Record<string, string> = {};
  for (const [name, ask] of Object.entries(asked))
    refusals[name] = await ask().then(
      () => "done",
      ({ code, message }: { code: string; message: string }) =>
        `${code}: ${message.replaceAll(/(?:sub|held)_[0-9a-z]{26}/g, "ID")}`,
    );
  return refusals;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("what was sent to somebody else's forms is like nothing, in each operation", async () => {
    const db = await temporary();
    const { hers, actor, cleo } = await twoOwners(db);
    expect(await seenBy(db, actor)).toEqual(each("Jobs", "Shop"));
    expect(await seenBy(db, { kind: "terminal", user: "ada" })).toEqual(each("Contact", "Jobs", "Shop"));
    const workspace = cleo.workspace.id;
    for (const strange of [{ endpoint: hers.endpoint }, { workspace }]) {
      const missing = { code: "not_found" };
      await expect(seenBy(db, actor, strange)).rejects.toMatchObject(missing);
      await expect(performOn(db, dropAllHeld, strange, { actor })).rejects.toMatchObject(missing);
    }
    const before = await rowsOf(db, "SELECT id FROM held ORDER BY id");
    const none = { submission: newId("sub", NOON), held: newId("held", NOON) };
    const refusals = await refusalsOf(reachAll(db, actor, hers));
    expect(refusals).toEqual(await refusalsOf(reachAll(db, actor, none)));
    expect(Object.values(refusals).filter((each) => !each.startsWith("not_found: "))).toEqual([]);
    expect(await rowsOf(db, "SELECT id FROM held ORDER BY id")).toEqual(before);
    expect(await rowsOf(db, "SELECT * FROM submission_read")).toEqual([]);
    expect(await db.read(() => listChanges(10))).toEqual([]);
  });

  test("a token that is bound to one form reaches no post of another, with an account or without", async () => {
    const db = await temporary();
    const { ben, shop, jobs, bound } = await twoOwners(db);
    for (const account of [null, ben.identity]) {
      const actor = bound(account);
      expect(await seenBy(db, actor)).toEqual(each("Shop"));
      expect(await seenBy(db, actor, { workspace: ben.workspace.id })).toEqual(each("Shop"));
      await expect(seenBy(db, actor, { endpoint: jobs.endpoint })).rejects.toMatchObject({
        code: "not_found",
      });
      const refusals = Object.values(await refusalsOf({ ...reachAll(db, actor, jobs) }));
      const isNone = (text: string) => text.startsWith("not_found: ") || text.includes("token has none");
      expect(refusals.filter((text) => !isNone(text))).toEqual([]);
    }
    const mixed = { submissions: [shop.submission, jobs.submission] };
    await expect(performOn(db, deleteSubmissions, mixed, { actor: bound(null) })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await performOn(db, dropAllHeld, {}, { actor: bound(null) })).toEqual({ dropped: 1 });
    expect(await rowsOf(db, "SELECT endpoint_id FROM held WHERE workspace_id <> ''")).toHaveLength(2);
    const own = reachAll(db, bound(ben.identity), { ...shop, held: jobs.held });
    const { show, mark, read, delete: remove } = await refusalsOf(own);
    expect([show, mark, read, remove]).toEqual(["done", "done", "done", "done"]);
  });

  test("each workspace gets a record of its own of what was done to its posts", async () => {
    const db = await temporary();
    const { ben, cleo, shop, jobs, hers } = await twoOwners(db);
    const submissions = [shop.submission, hers.submission, jobs.submission];
    await performOn(db, markSubmissionsAs, { submissions, mark: "ham" });
    await performOn(db, deleteSubmissions, { submissions });
    await performOn(db, dropHeld, { held: [shop.held, jobs.held, hers.held] });
    const changes = await db.read(() => listChanges(10));
    const told = changes.map(({ action, workspaceId, detail }) => [action, workspaceId, detail]).toReversed();
    expect(told).toEqual([
      ["submission.mark", ben.workspace.id, "2 marked ham"],
      ["submission.mark", cleo.workspace.id, "1 marked ham"],
      ["submission.delete", ben.workspace.id, "2 deleted"],
      ["submission.delete", cleo.workspace.id, "1 deleted"],
      ["held.drop", ben.workspace.id, "2 dropped"],
      ["held.drop", cleo.workspace.id, "1 dropped"],
    ]);
    expect(changes.at(-1)?.subject).toBe(`${shop.submission} ${jobs.submission}`);
  });

  test("a post that is named twice is deleted once, and counted once", async () => {
    const db = await temporary();
    const { shop } = await twoOwners(db);
    const submissions = [shop.submission, shop.submission];
    const deleted = await performOn(db, deleteSubmissions, { submissions, now: true });
    expect(deleted).toEqual({ deleted: [shop.submission] });
    expect(await performOn(db, dropHeld, { held: [shop.held, shop.held] })).toEqual({ dropped: [shop.held] });
  });

  test("an account marks its own inbox, and a token that of its account", async () => {
    const db = await temporary();
    const { ben, cleo, shop, actor, bound } = await twoOwners(db);
    const submissions = [shop.submission];
    const read = () => db.read(() => listRead(ben.identity.accountId, submissions));
    for (const who of [actor, bound(ben.identity)]) {
      await performOn(db, markSubmissionsRead, { submissions }, { actor: who });
      expect([...(await read())]).toEqual(submissions);
      await performOn(db, markSubmissionsRead, { submissions, read: false }, { actor: who });
      expect([...(await read())]).toEqual([]);
    }
    const account = cleo.identity.email;
    const other = performOn(db, markSubmissionsRead, { submissions, account }, { actor });
    await expect(other).rejects.toMatchObject({ code: "forbidden" });
    const nobody = performOn(db, markSubmissionsRead, { submissions }, { actor: bound(null) });
    await expect(nobody).rejects.toMatchObject({ code: "forbidden" });
    await expect(performOn(db, markSubmissionsRead, { submissions })).rejects.toMatchObject({
      code: "usage",
    });
    expect(await rowsOf(db, "SELECT * FROM submission_read")).toEqual([]);
  });
});

test("an export needs the scope of exports, which no other includes and which includes no other", async () => {
  const db = temporaryDatabase();
  const { bound } = await twoOwners(db);
  const writer = bound(null, ["submissions:write", "operator"]);
  const refused = { code: "forbidden", message: "the token does not have the scope submissions:export" };
  await expect(partsOn(db, exportSubmissions, {}, { actor: writer, parts })).rejects.toMatchObject(refused);
  const exporter = bound(null, ["submissions:export"]);
  expect(await partsOn(db, exportSubmissions, {}, { actor: exporter, parts })).not.toEqual([]);
  await expect(performOn(db, listSubmissions, {}, { actor: exporter, parts })).rejects.toMatchObject({
    code: "forbidden",
  });
});

test("times and texts that cannot be meant are refused before anything is read", async () => {
  const db = temporaryDatabase();
  const wrong = [
    { since: "yesterday" },
    { until: "2026-02-30" },
    { search: "" },
    { search: "x ".repeat(500) },
    { unread: true },
  ];
  for (const input of wrong)
    await expect(performOn(db, listSubmissions, input, { parts })).rejects.toMatchObject({ code: "usage" });
  await expect(performOn(db, dropAllHeld, { newest: "sub_1" })).rejects.toMatchObject({ code: "usage" });
  const cursor = { cursor: "nothing" };
  await expect(performOn(db, listSubmissions, cursor, { parts })).rejects.toMatchObject({
    code: "invalid_request",
  });
  await expect(performOn(db, listHeld, cursor)).rejects.toMatchObject({ code: "invalid_request" });
});

test("a server hears of a deletion, and forgets nothing because somebody has read something", async () => {
  const db = temporaryDatabase();
  const { shop, actor } = await twoOwners(db);
  let told = 0;
  const door = { actor, onChange: () => void (told += 1) };
  const submissions = [shop.submission];
  await performOn(db, markSubmissionsRead, { submissions }, door);
  expect(told).toBe(0);
  await performOn(db, deleteSubmissions, { submissions }, door);
  expect(told).toBe(1);
});

test("a page for somebody at a distance ends by bytes, and has at least one post", async () => {
  const db = temporaryDatabase();
  const { shop, actor } = await twoOwners(db);
  const data = { text: "x".repeat(600_000) };
  const large = Array.from({ length: 3 }, (_, index) => ({
    endpointId: shop.endpoint,
    data,
    createdAt: NOON + 1 + index,
  }));
  await storeSubmissions(db, large);
  const far = await performOn(db, listSubmissions, {}, { actor, parts });
  expect([far.data.length, far.next_cursor]).toEqual([1, far.data[0]?.id]);
  const near = await performOn(db, listSubmissions, {}, { parts });
  expect(near.next_cursor).toBeNull();
  expect(await partsOn(db, tailSubmissions, {}, { actor, parts })).toHaveLength(1);
});
