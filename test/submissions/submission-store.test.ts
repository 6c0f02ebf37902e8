import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { FIRST_LATER_SQL } from "../../src/submissions/find/tail.ts";
import { browseSubmissions } from "../../src/submissions/find/browse-submissions.ts";
import {
  deleteSubmissionRows,
  EVERY_SUBMISSION,
  getSubmission,
  type SubmissionFilter,
  type SubmissionPage,
} from "../../src/submissions/stored/submission-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { addSubmission, asSubmission, submissionAdder } from "../support/add-submission.ts";

const any = EVERY_SUBMISSION;

interface Bench {
  readonly db: SqliteDatabase;
  readonly endpoints: readonly string[];
  readonly add: (endpointId: string, at: number, score?: number) => string;
}

function bench(): Bench {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => insertAccountRows("ana@example.org", NOON));
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const endpoints = [1, 2].map(() => db.now(() => insertEndpointRow(workspace, made, plans, NOON)).id);
  const insert = submissionAdder(db);
  return {
    db,
    endpoints,
    add: (endpointId, at, score = 0) =>
      insert({
        endpointId,
        data: { a: 1 },
        spamScore: score,
        ipAddress: "192.0.2.1",
        userAgent: "UA",
        createdAt: at,
      }),
  };
}

function list(
  db: SqliteDatabase,
  filter: SubmissionFilter,
  limit: number,
  cursor: string | null = null,
): Promise<SubmissionPage> {
  return browseSubmissions(db, filter, { limit, cursor, maxBytes: Infinity });
}

test("pages go from the newest to the oldest, and together hold each submission once", async () => {
  const { db, endpoints, add } = bench();
  const ids = Array.from({ length: 23 }, (_, index) => add(endpoints[index % 2]!, NOON + index));
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: SubmissionPage = await list(db, any, 5, cursor);
    expect(page.data.length).toBeLessThanOrEqual(5);
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(seen).toEqual([...ids].reverse());
});

test("a page of a class that few submissions have looks through all of them, and lets others have their turn", async () => {
  const { db, endpoints, add } = bench();
  const [first = ""] = endpoints;
  const ids = [add(first, NOON, 60), ...Array.from({ length: 2600 }, () => add(first, NOON))];
  let turns = 0;
  let isLooking = true;
  const count = (): void => {
    turns += 1;
    if (isLooking) setImmediate(count);
  };
  setImmediate(count);
  const { data, nextCursor } = await list(db, { ...any, spamClass: "high" }, 2);
  isLooking = false;
  expect([data.map(({ id }) => id), nextCursor]).toEqual([[ids[0]], null]);
  expect(turns).toBeGreaterThan(4);
});

test("a page ends before the submission that would make it larger than it may be, and the next one begins there", async () => {
  const { db, endpoints, add } = bench();
  const ids = [1, 2, 3].map((millisecond) => add(endpoints[0]!, NOON + millisecond)).toReversed();
  const one = await browseSubmissions(db, any, { limit: 10, cursor: null, maxBytes: 900 });
  expect([one.data.map(({ id }) => id), one.nextCursor]).toEqual([ids.slice(0, 2), ids[1]]);
  const other = await browseSubmissions(db, any, { limit: 10, cursor: one.nextCursor, maxBytes: 1 });
  expect([other.data.map(({ id }) => id), other.nextCursor]).toEqual([ids.slice(2), null]);
});

test("a last page that is just full has no next one", async () => {
  const { db, endpoints, add } = bench();
  for (let index = 0; index < 5; index += 1) add(endpoints[0]!, NOON);
  expect((await list(db, any, 5)).nextCursor).toBeNull();
  expect((await list(db, any, 4)).nextCursor).not.toBeNull();
});

test("filters take an endpoint, a spam class with exact bounds, a first millisecond and an end that is not included", async () => {
  const { db, endpoints, add } = bench();
  const scores = [0, 25, 26, 50, 51, 75];
  // Ids never go back with a clock that is set back a little, so this test has a day of its own.
  const DAY = NOON + 86_400_000;
  const ids = scores.map((score, index) => add(endpoints[index % 2]!, DAY + index, score));
  const found = async (filter: Partial<SubmissionFilter>): Promise<number[]> => {
    const { data } = await list(db, { ...any, ...filter }, 100);
    return data.map(({ id }) => ids.indexOf(id)).toSorted((a, b) => a - b);
  };
  expect(await found({ endpointIds: [endpoints[0]!] })).toEqual([0, 2, 4]);
  expect(await found({ spamClass: "low" })).toEqual([0, 1]);
  expect(await found({ spamClass: "medium" })).toEqual([2, 3]);
  expect(await found({ spamClass: "high" })).toEqual([4, 5]);
  expect(await found({ since: DAY + 2, until: DAY + 4 })).toEqual([2, 3]);
  expect(await found({ since: DAY + 2, endpointIds: [endpoints[1]!], spamClass: "high" })).toEqual([5]);
});

test.each(["x", "", "sub_", "ep_01h455vb4pex5vsknk084sn02q", "sub_01h455vb4pex5vsknk084sn02q' OR 1"])(
  "the cursor %j is refused",
  async (cursor) => {
    await expect(list(bench().db, any, 5, cursor)).rejects.toMatchObject({ code: "invalid_request" });
  },
);

test("the place of a submission that is gone is found by the ids after it, without reading all others", () => {
  const { db } = bench();
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${FIRST_LATER_SQL.sqlite}`).all("") as { detail: string }[];
  expect(plan.map(({ detail }) => detail)).toContainEqual(
    expect.stringMatching(/SEARCH submission USING COVERING INDEX .*\(id>\?\)/),
  );
  expect(FIRST_LATER_SQL.sqlite).toMatch(/ORDER BY id LIMIT \d+/);
});

test("deleting is all or nothing", async () => {
  const { db, endpoints, add } = bench();
  const ids = [add(endpoints[0]!, NOON), add(endpoints[0]!, NOON)];
  expect(() => db.now(() => deleteSubmissionRows([...ids, "sub_none"]))).toThrow(
    /sub_none; nothing was deleted/,
  );
  expect((await list(db, any, 5)).data).toHaveLength(2);
  db.now(() => deleteSubmissionRows(ids));
  expect((await list(db, any, 5)).data).toEqual([]);
});

test("a submission is read as it was stored", () => {
  const { db, endpoints } = bench();
  const stored = asSubmission({
    endpointId: endpoints[0]!,
    schemaVersion: 3,
    data: { a: 1 },
    spamScore: 30,
    spamClass: "medium",
    spamReasons: [{ signal: "links", points: 30, field: "a", detail: "one link" }],
    spamVersion: 2,
    ipAddress: "192.0.2.1",
    userAgent: "UA",
    createdAt: NOON,
  });
  addSubmission(db, stored);
  expect(db.now(() => getSubmission(stored.id))).toEqual(stored);
  expect(() => db.now(() => getSubmission(newId("sub", NOON)))).toThrow(
    expect.objectContaining({ code: "not_found" }) as Error,
  );
});
