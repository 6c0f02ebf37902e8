import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { insertEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import {
  deleteSubmissions,
  findSubmission,
  listSubmissions,
  readTail,
  type SubmissionFilter,
  tailAfter,
  tailEnd,
} from "../../src/submissions/submission-store.ts";
import { createAccount } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { NUMBER_OF_ENDPOINT } from "../../src/submissions/endpoint-number.ts";

const any: SubmissionFilter = { endpointId: null, spamClass: null, since: null, until: null };

interface Bench {
  readonly db: SqliteDatabase;
  readonly endpoints: readonly string[];
  readonly add: (endpointId: string, at: number, score?: number) => string;
}

function bench(): Bench {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => createAccount("ana@example.org", NOON));
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const endpoints = [1, 2].map(() => db.now(() => insertEndpoint(workspace, made, plans, NOON)).id);
  const insert = db.prepare(
    `INSERT INTO submission (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
     VALUES (?, ${NUMBER_OF_ENDPOINT}, 1, '{"a":1}', ?, '[]', '192.0.2.1', 'UA', ?)`,
  );
  return {
    db,
    endpoints,
    add: (endpointId, at, score = 0) => {
      const id = newId("sub", at);
      insert.run(id, endpointId, score, at);
      return id;
    },
  };
}

test("pages go from the newest to the oldest, and together hold each submission once", () => {
  const { db, endpoints, add } = bench();
  const ids = Array.from({ length: 23 }, (_, index) => add(endpoints[index % 2]!, NOON + index));
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = db.now(() => listSubmissions(any, 5, cursor));
    expect(page.data.length).toBeLessThanOrEqual(5);
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(seen).toEqual([...ids].reverse());
});

test("a last page that is just full has no next one", () => {
  const { db, endpoints, add } = bench();
  for (let index = 0; index < 5; index += 1) add(endpoints[0]!, NOON);
  expect(db.now(() => listSubmissions(any, 5, null)).nextCursor).toBeNull();
  expect(db.now(() => listSubmissions(any, 4, null)).nextCursor).not.toBeNull();
});

test("filters take an endpoint, a spam class with exact bounds, a first millisecond and an end that is not included", () => {
  const { db, endpoints, add } = bench();
  const scores = [0, 25, 26, 50, 51, 75];
  // Ids never go back with a clock that is set back a little, so this test has a day of its own.
  const DAY = NOON + 86_400_000;
  const ids = scores.map((score, index) => add(endpoints[index % 2]!, DAY + index, score));
  const found = (filter: Partial<SubmissionFilter>) =>
    db
      .now(() => listSubmissions({ ...any, ...filter }, 100, null))
      .data.map(({ id }) => ids.indexOf(id))
      .sort((a, b) => a - b);
  expect(found({ endpointId: endpoints[0]! })).toEqual([0, 2, 4]);
  expect(found({ spamClass: "low" })).toEqual([0, 1]);
  expect(found({ spamClass: "medium" })).toEqual([2, 3]);
  expect(found({ spamClass: "high" })).toEqual([4, 5]);
  expect(found({ since: DAY + 2, until: DAY + 4 })).toEqual([2, 3]);
  expect(found({ since: DAY + 2, endpointId: endpoints[1]!, spamClass: "high" })).toEqual([5]);
});

test.each(["x", "", "sub_", "ep_01h455vb4pex5vsknk084sn02q", "sub_01h455vb4pex5vsknk084sn02q' OR 1"])(
  "the cursor %j is refused",
  (cursor) => {
    expect(() => bench().db.now(() => listSubmissions(any, 5, cursor))).toThrow(
      expect.objectContaining({ code: "invalid_request" }) as Error,
    );
  },
);

test("tail gives what was committed after a position, in the order of commits whatever the ids say", () => {
  const { db, endpoints, add } = bench();
  add(endpoints[0]!, NOON);
  const start = db.now(() => tailEnd());
  const late = add(endpoints[0]!, NOON + 5000);
  const early = add(endpoints[0]!, NOON - 5000);
  const other = add(endpoints[1]!, NOON);
  const first = db.now(() => readTail(any, start, 2));
  expect(first.submissions.map(({ id }) => id)).toEqual([late, early]);
  const rest = db.now(() => readTail(any, first.position, 2));
  expect(rest.submissions.map(({ id }) => id)).toEqual([other]);
  expect(db.now(() => readTail(any, rest.position, 2))).toEqual({ submissions: [], position: rest.position });
  expect(db.now(() => readTail({ ...any, endpointId: endpoints[1]! }, start, 5)).submissions).toHaveLength(1);
});

test("tail goes on after a submission, and where that is gone with what has a later id", () => {
  const { db, endpoints, add } = bench();
  const [first, second] = [add(endpoints[0]!, NOON), add(endpoints[0]!, NOON + 1)];
  const early = add(endpoints[1]!, NOON - 60_000);
  const after = (cursor: string) =>
    db
      .now(() =>
        readTail(
          any,
          db.now(() => tailAfter(cursor)),
          5,
        ),
      )
      .submissions.map(({ id }) => id);
  expect(after(first)).toEqual([second, early]);
  expect(after(early)).toEqual([]);
  db.now(() => deleteSubmissions([first]));
  expect(after(first)).toEqual([second, early]);
  db.now(() => deleteSubmissions([second]));
  expect(after(second)).toEqual([]);
  expect(() => db.now(() => tailAfter("sub_nonsense"))).toThrow("cursor");
});

test("a deleted submission's place is never given again, so that tail misses nothing", () => {
  const { db, endpoints, add } = bench();
  const gone = add(endpoints[0]!, NOON);
  const position = db.now(() => tailEnd());
  db.now(() => deleteSubmissions([gone]));
  expect(db.now(() => tailEnd())).toBe(0);
  const next = add(endpoints[0]!, NOON);
  expect(db.now(() => readTail(any, position, 5)).submissions.map(({ id }) => id)).toEqual([next]);
});

test("deleting is all or nothing", () => {
  const { db, endpoints, add } = bench();
  const ids = [add(endpoints[0]!, NOON), add(endpoints[0]!, NOON)];
  expect(() => db.now(() => deleteSubmissions([...ids, "sub_none"]))).toThrow(
    /sub_none; nothing was deleted/,
  );
  expect(db.now(() => listSubmissions(any, 5, null)).data).toHaveLength(2);
  db.now(() => deleteSubmissions(ids));
  expect(db.now(() => listSubmissions(any, 5, null)).data).toEqual([]);
});

test("a submission is read as it was stored", () => {
  const { db, endpoints, add } = bench();
  const id = add(endpoints[0]!, NOON, 30);
  expect(db.now(() => findSubmission(id))).toEqual({
    id,
    endpointId: endpoints[0],
    schemaVersion: 1,
    data: { a: 1 },
    spamScore: 30,
    spamClass: "medium",
    spamReasons: [],
    ipAddress: "192.0.2.1",
    userAgent: "UA",
    createdAt: NOON,
  });
  expect(() => db.now(() => findSubmission(newId("sub", NOON)))).toThrow(
    expect.objectContaining({ code: "not_found" }) as Error,
  );
});
