import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { listChanges } from "../../src/audit/audit-store.ts";
import type { Database } from "../../src/database/database.ts";
import { newId } from "../../src/foundation/id.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { countSubmissions } from "../../src/submissions/find/count-submissions.ts";
import { exportSubmissions } from "../../src/submissions/export/export-submissions.ts";
import { listEvents } from "../../src/submissions/find/event-operations.ts";
import { erasePersonRecords, findPersonRecords } from "../../src/submissions/manage/person-operations.ts";
import { expireSubmissions } from "../../src/submissions/stored/retention.ts";
import { createSubmissionReader } from "../../src/submissions/find/submission-reader.ts";
import { EVERY_SUBMISSION } from "../../src/submissions/stored/submission-store.ts";
import { SearchSlots } from "../../src/submissions/find/search-slots.ts";
import {
  listSubmissions,
  markSubmissionsAs,
  showSubmission,
} from "../../src/submissions/manage/submission-operations.ts";
import { tailSubmissions } from "../../src/submissions/find/tail-submissions.ts";
import {
  addNote,
  deleteSubmissions,
  emptyBin,
  setSubmissions,
  undeleteSubmissions,
} from "../../src/submissions/manage/work-operations.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { untilTailed } from "../support/temporary-postgresql.ts";
import { partsOn, performOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const parts = { searches: null, committed: () => Promise.resolve() };
const searches = new SearchSlots();
const NEVER = new AbortController().signal;

/** Ids of what a filter lists, newest first. */
async function listed(db: Database, actor: Actor, input: object = {}): Promise<string[]> {
  const page = await performOn(db, listSubmissions, input, { actor, parts });
  return page.data.map(({ id }) => id);
}

/** Every id that a way of reading many submissions gives, by that way. */
async function everywhere(db: Database, actor: Actor, endpoint: string) {
  const door = { actor, parts };
  await untilTailed(db);
  const exported = await partsOn(db, exportSubmissions, { endpoint, format: "json" }, door);
  const reader = createSubmissionReader(db, searches, () => undefined);
  const filter = { ...EVERY_SUBMISSION, endpointIds: [endpoint] };
  const events = await performOn(db, listEvents, {}, door);
  const period = { endpointId: endpoint, since: 0, until: NOON + DAY_MS };
  const text = exported.map((part) => part.text).join("");
  return {
    list: await listed(db, actor, { endpoint }),
    search: await listed(db, actor, { endpoint, search: "Shop" }),
    tail: (await partsOn(db, tailSubmissions, { endpoint }, door)).map(({ id }) => id),
    export: (JSON.parse(text) as { id: string }[]).map(({ id }) => id),
    readApi: (await reader.list(filter, 10, null, NEVER)).data.map(({ id }) => id),
    events: events.data.filter(({ type }) => type === "submission.stored").map(({ id }) => id),
    count: await countSubmissions(db, period, 100),
  };
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a deleted submission is in the bin and nowhere else, and comes back as it was", async () => {
    const db = await temporary();
    const { actor, shop, jobs } = await twoOwners(db);
    const door = { actor, parts };
    const { submission: id, endpoint } = shop;
    await performOn(db, setSubmissions, { submissions: [id], state: "done" }, door);
    await performOn(db, addNote, { submission: id, text: "called back" }, door);
    const [before, seen] = [
      await performOn(db, showSubmission, { submission: id }, door),
      await everywhere(db, actor, endpoint),
    ];
    expect(seen).toMatchObject({ list: [id], events: [id, jobs.submission], count: 1 });
    const deleted = await performOn(db, deleteSubmissions, { submissions: [id] }, door);
    expect(deleted).toEqual({ deleted: [id] });
    const gone = await everywhere(db, actor, endpoint);
    expect(gone).toEqual({
      list: [],
      search: [],
      tail: [],
      export: [],
      readApi: [],
      events: [jobs.submission],
      count: 0,
    });
    expect(await listed(db, actor, { deleted: true })).toEqual([id]);
    const binned = await performOn(db, listSubmissions, { deleted: true }, door);
    expect(binned.data).toMatchObject([
      { id, state: "done", notes: before.notes, deleted_at: new Date(NOON).toISOString() },
    ]);
    const reader = createSubmissionReader(db, searches, () => undefined);
    await expect(reader.get(endpoint, id)).rejects.toMatchObject({ code: "not_found" });
    await expect(reader.remove(endpoint, id)).rejects.toMatchObject({ code: "not_found" });
    await performOn(db, undeleteSubmissions, { submissions: [id] }, door);
    expect(await everywhere(db, actor, endpoint)).toEqual(seen);
    expect(await performOn(db, showSubmission, { submission: id }, door)).toEqual(before);
    expect((await db.read(() => listChanges(10))).map(({ action, detail }) => [action, detail])).toEqual([
      ["submission.undelete", "1 brought back"],
      ["submission.delete", "1 deleted"],
      ["submission.note", before.notes[0]?.id],
      ["submission.set", "1 done"],
    ]);
  });

  test("nothing can be done with what is in the bin but to look, to bring back and to delete for good", async () => {
    const db = await temporary();
    const { actor, shop } = await twoOwners(db);
    const door = { actor, parts };
    const submissions = [shop.submission];
    await performOn(db, deleteSubmissions, { submissions }, door);
    const missing = { code: "not_found" };
    const [submission = ""] = submissions;
    await expect(performOn(db, showSubmission, { submission }, door)).rejects.toMatchObject({
      ...missing,
      message: `there is no submission ${submission}; it is in the bin, and submission undelete brings it back`,
    });
    expect(await performOn(db, showSubmission, { submission, deleted: true }, door)).toMatchObject({
      id: submission,
      deleted_at: new Date(NOON).toISOString(),
    });
    await expect(performOn(db, deleteSubmissions, { submissions }, door)).rejects.toMatchObject(missing);
    await expect(performOn(db, setSubmissions, { submissions, state: "done" }, door)).rejects.toMatchObject(
      missing,
    );
    await expect(performOn(db, addNote, { submission, text: "x" }, door)).rejects.toMatchObject(missing);
    await expect(performOn(db, markSubmissionsAs, { submissions, mark: "spam" }, door)).rejects.toMatchObject(
      missing,
    );
    await performOn(db, deleteSubmissions, { submissions, now: true }, door);
    expect(await rowsOf(db, "SELECT id FROM submission_bin")).toEqual([]);
    await expect(performOn(db, undeleteSubmissions, { submissions }, door)).rejects.toMatchObject({
      code: "not_found",
      message: `there is no submission ${submission} in the bin; nothing was changed`,
    });
  });

  test("the bin is emptied after its days, at once without days, and by whoever owns it", async () => {
    const db = await temporary();
    const { actor, shop, jobs, hers } = await twoOwners(db);
    const bin = (id: string, now: number) =>
      performOn(db, deleteSubmissions, { submissions: [id] }, { actor, now });
    await bin(shop.submission, NOON);
    await bin(jobs.submission, NOON + DAY_MS);
    const expire = (days: number, now: number) => db.transaction(() => expireSubmissions(days, now));
    expect(await expire(30, NOON + 30 * DAY_MS - 1)).toBe(0);
    expect(await expire(30, NOON + 30 * DAY_MS)).toBe(1);
    expect(await listed(db, actor, { deleted: true })).toEqual([jobs.submission]);
    await expect(
      performOn(db, emptyBin, { endpoint: hers.endpoint }, { actor, parts }),
    ).rejects.toMatchObject({ code: "not_found" });
    expect(await performOn(db, emptyBin, {}, { actor, parts })).toEqual({ deleted: 1 });
    expect(await rowsOf(db, "SELECT id FROM submission")).toEqual([{ id: hers.submission }]);
    await performOn(db, deleteSubmissions, { submissions: [hers.submission] });
    expect(await expire(0, NOON)).toBe(1);
  });

  test("the read API deletes for good, and an endpoint keeps nothing longer for lying in the bin", async () => {
    const db = await temporary();
    const { actor, shop, jobs, hers } = await twoOwners(db);
    const reader = createSubmissionReader(db, searches, () => undefined);
    await reader.remove(shop.endpoint, shop.submission);
    expect(await listed(db, actor, { deleted: true })).toEqual([]);
    await write(db, `UPDATE endpoint SET keep_days = 7 WHERE id = '${jobs.endpoint}'`);
    await performOn(
      db,
      deleteSubmissions,
      { submissions: [jobs.submission] },
      { actor, now: NOON + 6 * DAY_MS },
    );
    const expire = (now: number) => db.transaction(() => expireSubmissions(30, now));
    expect([await expire(NOON + 7 * DAY_MS - 1), await expire(NOON + 8 * DAY_MS)]).toEqual([0, 1]);
    expect(await rowsOf(db, "SELECT id FROM submission")).toEqual([{ id: hers.submission }]);
    expect(await rowsOf(db, "SELECT id FROM submission_bin")).toEqual([]);
  });

  test("a person's records in the bin are found and erased at once", async () => {
    const db = await temporary();
    const { actor, shop } = await twoOwners(db);
    const door = { actor, parts };
    await performOn(db, deleteSubmissions, { submissions: [shop.submission] }, door);
    const found = await performOn(db, findPersonRecords, { field: "name", value: "shop" }, door);
    expect(found.submissions.map(({ id }) => id)).toEqual([shop.submission]);
    await performOn(db, erasePersonRecords, { submissions: [shop.submission] }, door);
    expect(await rowsOf(db, "SELECT id FROM submission_bin")).toEqual([]);
    expect(await performOn(db, findPersonRecords, { field: "name", value: "shop" }, door)).toMatchObject({
      submissions: [],
    });
  });

  test("submissions are listed and exported by state and by who looks after them, on every page", async () => {
    const db = await temporary();
    const { actor, shop, ben } = await twoOwners(db);
    const more = await storeSubmissions(
      db,
      Array.from({ length: 40 }, (_, index) => ({
        endpointId: shop.endpoint,
        data: { name: `number ${index}` },
        createdAt: NOON + 1000 + index,
      })),
    );
    const [done, mine] = [
      more.filter((_id, index) => index % 3 === 0),
      more.filter((_id, index) => index % 5 === 0),
    ];
    await performOn(db, setSubmissions, { submissions: done, state: "done" }, { actor });
    await performOn(db, setSubmissions, { submissions: mine, assignee: ben.identity.email }, { actor });
    const all = async (input: object): Promise<string[]> => {
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const door = { actor, parts };
        const page: z.output<typeof listSubmissions.output> = await performOn(
          db,
          listSubmissions,
          { ...input, endpoint: shop.endpoint, limit: 7, cursor },
          door,
        );
        ids.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      return ids.toReversed();
    };
    const rest = (ids: readonly string[]) => [shop.submission, ...more].filter((id) => !ids.includes(id));
    expect(await all({ state: "done" })).toEqual(done);
    expect(await all({ state: "open" })).toEqual(rest(done));
    expect(await all({ assignee: "ben@example.com" })).toEqual(mine);
    expect(await all({ assignee: "me", state: "done" })).toEqual(mine.filter((id) => done.includes(id)));
    expect(await all({ assignee: "none" })).toEqual(rest(mine));
    expect(await all({ assignee: "nobody@example.com" })).toEqual([]);
    expect(await all({ state: "done", search: "number 36" })).toEqual([more[36]]);
    const exported = await partsOn(
      db,
      exportSubmissions,
      { state: "done", format: "ndjson" },
      { actor, parts },
    );
    const lines = exported
      .map(({ text }) => text)
      .join("")
      .trim()
      .split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { id: string; state: string }).id)).toEqual(done);
  });

  test("who is assigned sees the workspace; nobody learns whether there is such an account", async () => {
    const db = await temporary();
    const { actor, shop, cleo } = await twoOwners(db);
    const submissions = [shop.submission];
    const assign = (assignee: string | null) =>
      performOn(db, setSubmissions, { submissions, assignee }, { actor });
    const refusal = (name: string) => ({
      code: "usage",
      message: `${name} does not see these submissions; name the address of an account that does`,
    });
    const strangers = [cleo.identity.email, "nobody@example.com"];
    for (const name of strangers) await expect(assign(name)).rejects.toMatchObject(refusal(name));
    expect((await assign("ada@example.com")).assignee?.email).toBe("ada@example.com");
    expect((await assign("BEN@example.com")).assignee?.email).toBe("ben@example.com");
    expect((await assign("me")).assignee?.email).toBe("ben@example.com");
    const none = newId("sub", NOON);
    for (const nobody of [null, "none"]) expect((await assign(nobody)).assignee).toBeNull();
    await expect(performOn(db, setSubmissions, { submissions }, { actor })).rejects.toMatchObject({
      code: "usage",
    });
    await expect(
      performOn(db, setSubmissions, { submissions: [...submissions, none], state: "done" }, { actor }),
    ).rejects.toMatchObject({ code: "not_found" });
    expect(await listed(db, actor, { state: "done" })).toEqual([]);
  });

  test("`me` is the account that asks, also by a token, and nobody who has none", async () => {
    const db = await temporary();
    const { actor, shop, ben } = await twoOwners(db);
    const assign = (by: Actor) =>
      performOn(db, setSubmissions, { submissions: [shop.submission], assignee: "me" }, { actor: by });
    const { email, accountId } = ben.identity;
    const scopes = ["submissions:read", "submissions:write"] as const;
    const token = { kind: "token", tokenId: "tok_1", name: "CI", scopes } as const;
    for (const by of [actor, { ...token, account: ben.identity, reach: null }] as const) {
      await performOn(db, setSubmissions, { submissions: [shop.submission], assignee: null }, { actor });
      expect((await assign(by)).assignee).toEqual({ id: accountId, email });
    }
    const reach = { workspaceId: ben.workspace.id, endpointId: null };
    for (const by of [
      { kind: "terminal", user: null },
      { ...token, account: null, reach },
    ] as const)
      await expect(assign(by)).rejects.toMatchObject({
        code: "usage",
        message: "only an account is assigned to submissions; name one by its address",
      });
  });

  test("what two people set and note at once both holds, and of the state the last one counts", async () => {
    const db = await temporary();
    const { actor, shop, ben } = await twoOwners(db);
    const { submission } = shop;
    const submissions = [submission];
    const other: Actor = { kind: "terminal", user: "ada" };
    await Promise.all([
      performOn(db, setSubmissions, { submissions, state: "done" }, { actor }),
      performOn(db, setSubmissions, { submissions, assignee: "ben@example.com" }, { actor: other }),
      ...Array.from({ length: 10 }, (_, index) =>
        performOn(
          db,
          addNote,
          { submission, text: `note ${index}` },
          { actor: index % 2 === 0 ? actor : other },
        ),
      ),
    ]);
    const shown = await performOn(db, showSubmission, { submission }, { actor });
    expect([shown.state, shown.assignee]).toEqual([
      "done",
      { id: ben.identity.accountId, email: "ben@example.com" },
    ]);
    expect(shown.notes.map(({ text }) => text).toSorted()).toEqual(
      Array.from({ length: 10 }, (_, index) => `note ${index}`),
    );
    expect(new Set(shown.notes.map(({ by }) => by))).toEqual(new Set(["ben@example.com", null]));
    await performOn(db, setSubmissions, { submissions, state: "open" }, { actor: other });
    expect((await performOn(db, showSubmission, { submission }, { actor })).state).toBe("open");
  });

  test("if two people assign, note and delete the same submission at once, what was done before the deletion comes back with it", async () => {
    const db = await temporary();
    const { actor, shop } = await twoOwners(db);
    const { submission } = shop;
    const submissions = [submission];
    const other: Actor = { kind: "terminal", user: "ada" };
    const by = [{ actor }, { actor: other }];
    const deedsOf = (door: { readonly actor: Actor }, who: number) => [
      ...Array.from(
        { length: 5 },
        (_, index) => () => performOn(db, addNote, { submission, text: `${who} ${index}` }, door),
      ),
      () => performOn(db, setSubmissions, { submissions, assignee: "ben@example.com" }, door),
      () => performOn(db, deleteSubmissions, { submissions }, { ...door, parts }),
      () => performOn(db, setSubmissions, { submissions, state: "done" }, door),
    ];
    const deeds = by.flatMap(deedsOf);
    const results = await Promise.allSettled(deeds.map((deed) => deed()));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    for (const reason of refused) expect(reason).toMatchObject({ code: "not_found" });
    const of = (from: number, to: number) =>
      results.filter(({ status }, index) => status === "fulfilled" && index % 8 >= from && index % 8 < to);
    // Who deletes second finds nothing.
    expect(of(6, 7)).toHaveLength(1);
    expect(await listed(db, actor)).not.toContain(submission);
    await performOn(db, undeleteSubmissions, { submissions }, { actor });
    const shown = await performOn(db, showSubmission, { submission }, { actor });
    expect(shown.notes).toHaveLength(of(0, 5).length);
    expect(shown.assignee?.email ?? null).toBe(of(5, 6).length > 0 ? "ben@example.com" : null);
    expect(shown.state).toBe(of(7, 8).length > 0 ? "done" : "open");
    const changes = await db.read(() => listChanges(50));
    expect(changes.filter(({ action }) => action === "submission.delete")).toHaveLength(1);
    expect(changes.filter(({ action }) => action === "submission.note")).toHaveLength(of(0, 5).length);
  });

  test("a note has 1 to 2,000 characters without control characters, and a submission has 100 notes at most", async () => {
    const db = await temporary();
    const { actor, shop } = await twoOwners(db);
    const { submission } = shop;
    const note = async (text: string) =>
      (await performOn(db, addNote, { submission, text }, { actor })).note.text;
    for (const refused of ["", " \n\0", "x".repeat(2001), "😀".repeat(2001)])
      await expect(note(refused)).rejects.toMatchObject({ code: "usage" });
    expect(await note("😀".repeat(2000))).toBe("😀".repeat(2000));
    expect(await note(" one\r\ntwo\0\u001B[31m\ttab \uD800")).toBe("one\ntwo[31m\ttab \uFFFD");
    for (let count = 2; count < 100; count += 1) await note(`${count}`);
    await expect(note("one too many")).rejects.toMatchObject({ code: "conflict" });
    const shown = await performOn(db, showSubmission, { submission }, { actor });
    expect([shown.notes.length, shown.notes.at(-1)?.text]).toEqual([100, "99"]);
  });
});
