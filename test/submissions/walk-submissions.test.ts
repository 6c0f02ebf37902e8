import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { timeOfId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { findSubmissions } from "../../src/submissions/find/browse-submissions.ts";
import { insertReadRows } from "../../src/submissions/stored/read-marks.ts";
import { EVERY_SUBMISSION, type SubmissionFilter } from "../../src/submissions/stored/submission-store.ts";
import { type Direction, walkSubmissions } from "../../src/submissions/find/walk-submissions.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** Ids never go back with a clock that is set back a little, so each test has a day of its own. */
let days = 0;

describe.each(ENGINES)("on $name", ({ temporary }) => {
  /** The given number of endpoints, each with its own share of the submissions; the first has none. */
  async function world(endpointCount: number, submissionCount: number) {
    const start = NOON + (days += 1) * DAY_MS;
    const db = await temporary();
    const { account, workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
    const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
    const endpoints: string[] = [];
    while (endpoints.length < endpointCount)
      endpoints.push((await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON))).id);
    const given = Array.from({ length: submissionCount }, (_, index) => ({
      endpointId: endpoints[1 + (((index * index) % 7) % (endpointCount - 1))]!,
      data: { message: index % 10 === 0 ? "A Quiet Table" : "something else" },
      spamScore: index % 76,
      createdAt: start + index,
    }));
    const ids = await storeSubmissions(db, given);
    const ofEndpoint = new Map(ids.map((id, index) => [id, given[index]!.endpointId]));
    return { db, endpoints, ids, ofEndpoint, accountId: account.id, start };
  }

  async function walked(
    db: Database,
    filter: SubmissionFilter,
    direction: Direction,
    cursor: string | null = null,
  ) {
    const ids: string[] = [];
    for await (const slice of walkSubmissions(db, { filter, direction, cursor, wanted: 51 }))
      ids.push(...slice.ids);
    return ids;
  }

  test("a search reads few large submissions at once, and misses none", async () => {
    const { db, endpoints, start } = await world(2, 0);
    const given = Array.from({ length: 20 }, (_, index) => ({
      endpointId: endpoints[1]!,
      data: { message: `${"x".repeat(60_000)} needle` },
      createdAt: start + index,
    }));
    const ids = await storeSubmissions(db, given);
    for (const direction of ["newer", "older"] as const) {
      const filter = { ...EVERY_SUBMISSION, endpointIds: endpoints, text: "needle" };
      const slices: (readonly string[])[] = [];
      for await (const slice of walkSubmissions(db, { filter, direction, cursor: null, wanted: 51 }))
        slices.push(slice.ids);
      expect(slices.flat()).toEqual(direction === "newer" ? ids : ids.toReversed());
      expect(Math.max(...slices.map((each) => each.length))).toBe(2);
    }
  });

  test("a walk over several endpoints meets the submissions of exactly these, each once and in order, in both directions", async () => {
    const { db, endpoints, ids, ofEndpoint } = await world(9, 1500);
    const some = endpoints.slice(0, 4);
    const meant = ids.filter((id) => some.includes(ofEndpoint.get(id)!));
    const filter = { ...EVERY_SUBMISSION, endpointIds: some };
    expect(await walked(db, filter, "newer")).toEqual(meant);
    expect(await walked(db, filter, "older")).toEqual(meant.toReversed());
    expect(await walked(db, { ...filter, endpointIds: endpoints }, "older")).toEqual(ids.toReversed());
    expect(await walked(db, { ...filter, endpointIds: [] }, "older")).toEqual([]);
    expect(await walked(db, { ...filter, endpointIds: ["ep_01h455vb4pex5vsknk084sn02q"] }, "older")).toEqual(
      [],
    );
  });

  test("a walk begins after its cursor and keeps within the times of its filter, in both directions", async () => {
    const { db, endpoints, ids, start } = await world(5, 500);
    const filter = { ...EVERY_SUBMISSION, since: start + 100, until: start + 400 };
    for (const endpointIds of [null, endpoints]) {
      const within = { ...filter, endpointIds };
      expect(await walked(db, within, "older")).toEqual(ids.slice(100, 400).toReversed());
      expect(await walked(db, within, "older", ids[200])).toEqual(ids.slice(100, 200).toReversed());
      expect(await walked(db, within, "newer", ids[200])).toEqual(ids.slice(201, 400));
      expect(await walked(db, within, "newer", ids[50])).toEqual(ids.slice(100, 400));
      expect(await walked(db, within, "older", ids[450])).toEqual(ids.slice(100, 400).toReversed());
    }
  });

  test("score, text and what an account has not read narrow a walk, alone and together", async () => {
    const { db, endpoints, ids, accountId } = await world(4, 1000);
    await db.transaction(() => insertReadRows(accountId, ids.slice(0, 900)));
    const find = (filter: Partial<SubmissionFilter>) =>
      walked(db, { ...EVERY_SUBMISSION, endpointIds: endpoints, ...filter }, "newer");
    const isHigh = (_: string, index: number) => index % 76 > 50;
    expect(await find({ spamClass: "high" })).toEqual(ids.filter(isHigh));
    expect(await find({ unreadBy: accountId })).toEqual(ids.slice(900));
    expect(await find({ unreadBy: "acct_01h455vb4pex5vsknk084sn02q" })).toEqual(ids);
    expect(await find({ text: "quiet table" })).toEqual(ids.filter((_, index) => index % 10 === 0));
    expect(await find({ text: "table a" })).toEqual(ids.filter((_, index) => index % 10 === 0));
    expect(await find({ text: '"table quiet"' })).toEqual([]);
    expect(await find({ text: "else quiet" })).toEqual([]);
    expect(await find({ text: "quiet", unreadBy: accountId, spamClass: "high" })).toEqual(
      ids.filter((id, index) => index % 10 === 0 && isHigh(id, index) && index >= 900),
    );
  });

  test("a search that stops at its bound says up to where it looked, and goes on from there without a gap", async () => {
    const { db, endpoints, ids } = await world(4, 2500);
    const filter = { ...EVERY_SUBMISSION, endpointIds: endpoints, text: "quiet" };
    const found: string[] = [];
    let cursor: string | null = null;
    let searches = 0;
    do {
      const part: Awaited<ReturnType<typeof findSubmissions>> = await findSubmissions(
        db,
        { filter, direction: "older", cursor, wanted: 1000 },
        1000,
      );
      found.push(...part.ids);
      cursor = part.stoppedAt;
      searches += 1;
    } while (cursor !== null);
    expect(found).toEqual(ids.filter((_, index) => index % 10 === 0).toReversed());
    expect(searches).toBeGreaterThan(2);
  });

  test("an id tells the millisecond it was made at", async () => {
    const { ids, start } = await world(2, 3);
    expect(ids.map(timeOfId)).toEqual([start, start + 1, start + 2]);
  });
});

test("the statements of a walk go over indices, and never sort or scan", () => {
  const db = temporaryDatabase();
  const plan = (sql: string): string =>
    (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join("; ");
  const own = "endpoint_number = 1 AND id >= 'a' AND id < 'b' ORDER BY id DESC";
  expect(plan(`SELECT id FROM submission WHERE ${own} LIMIT 1 OFFSET 500`)).toBe(
    "SEARCH submission USING COVERING INDEX submission_by_endpoint (endpoint_number=? AND id>? AND id<?)",
  );
  const all = "id >= 'a' AND id < 'b' AND spam_score BETWEEN 1 AND 2 ORDER BY id DESC";
  expect(plan(`SELECT id FROM submission WHERE ${all}`)).toBe(
    "SEARCH submission USING INDEX sqlite_autoindex_submission_1 (id>? AND id<?)",
  );
});
