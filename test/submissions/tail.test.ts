import type { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { newId } from "../../src/foundation/id.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { followSubmissions } from "../../src/submissions/find/follow-submissions.ts";
import type { Steps } from "../../src/database/steps.ts";
import {
  deleteSubmissionRows,
  EVERY_SUBMISSION,
  type SubmissionFilter,
} from "../../src/submissions/stored/submission-store.ts";
import { MAX_LOOKED, readTail, TAIL_START, tailAfter, tailEnd } from "../../src/submissions/find/tail.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { asSubmission, type GivenSubmission, storeSubmissions } from "../support/add-submission.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { workOf } from "../support/steps-on-connection.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import {
  hasPostgresql,
  openForTest,
  temporaryAddress,
  temporaryPostgresql,
  untilTailed,
} from "../support/temporary-postgresql.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const any = EVERY_SUBMISSION;
function* readAny(): Steps<SubmissionFilter> {
  yield* [];
  return any;
}
/** Ids never go back with a clock that is set back a little, so a test of times has a day of its own. */
let days = 0;

async function withEndpoints(db: Database) {
  const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const add = () => db.transaction(() => insertEndpointRow(workspace, made, plans, NOON));
  const [one, two] = [(await add()).id, (await add()).id];
  const store = async (endpointId: string, createdAt: number) =>
    (await storeAll(db, [{ endpointId, createdAt }]))[0] ?? "";
  return { one, two, store };
}

async function storeAll(db: Database, given: readonly GivenSubmission[]): Promise<string[]> {
  const ids = await storeSubmissions(db, given);
  await untilTailed(db);
  return ids;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("tail gives what was committed after a position, in the order of commits whatever the ids say", async () => {
    const db = await temporary();
    expect(await db.read(tailEnd)).toEqual(TAIL_START);
    const { one, two, store } = await withEndpoints(db);
    await store(one, NOON);
    const start = await db.read(tailEnd);
    const late = await store(one, NOON + 5000);
    const early = await store(one, NOON - 5000);
    const other = await store(two, NOON);
    const first = await db.read(() => readTail(any, start, 2));
    expect(first.submissions.map(({ id }) => id)).toEqual([late, early]);
    const rest = await db.read(() => readTail(any, first.position, 2));
    expect(rest.submissions.map(({ id }) => id)).toEqual([other]);
    const none = await db.read(() => readTail(any, rest.position, 2));
    expect(none).toEqual({ submissions: [], positions: [], position: rest.position, isCut: false });
  });

  test("a filter takes the endpoint, the score and the time", async () => {
    const db = await temporary();
    const day = NOON + (days += 1) * DAY_MS;
    const { one, two } = await withEndpoints(db);
    const ids = await storeAll(
      db,
      [0, 30, 60].map((spamScore, index) => ({
        endpointId: index === 2 ? two : one,
        spamScore,
        createdAt: day + index,
      })),
    );
    const found = async (filter: Partial<typeof any>) =>
      (await db.read(() => readTail({ ...any, ...filter }, TAIL_START, 9))).submissions.map(({ id }) => id);
    expect(await found({})).toEqual(ids);
    expect(await found({ endpointIds: [two] })).toEqual(ids.slice(2));
    expect(await found({ spamClass: "medium" })).toEqual(ids.slice(1, 2));
    expect(await found({ since: day + 1, until: day + 2, endpointIds: [one] })).toEqual(ids.slice(1, 2));
  });

  test("of a transaction with many submissions a page takes a part, and the next page the rest", async () => {
    const db = await temporary();
    const { one } = await withEndpoints(db);
    const given = Array.from({ length: 7 }, (_, index) => ({ endpointId: one, createdAt: NOON + index }));
    const ids = await storeAll(db, given);
    const seen: string[] = [];
    let position = TAIL_START;
    for (let page = 0; page < 4; page += 1) {
      const from = position;
      const read = await db.read(() => readTail(any, from, 3));
      seen.push(...read.submissions.map(({ id }) => id));
      position = read.position;
    }
    expect(seen).toEqual(ids);
  });

  test("a page looks at a bounded number of submissions, however few of them the filter takes, and pages find all", async () => {
    const db = await temporary();
    const { one, two } = await withEndpoints(db);
    const given = (endpointId: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ endpointId, createdAt: NOON + index }));
    await storeAll(db, given(one, MAX_LOOKED + 1));
    const wanted = await storeAll(db, given(two, 3));
    await storeAll(db, given(one, MAX_LOOKED));
    const filter = { ...any, endpointIds: [two] };
    const pages = [];
    for (let position = TAIL_START, isCut = true; isCut;) {
      const from = position;
      const page = await db.read(() => readTail(filter, from, 5));
      pages.push(page.submissions.map(({ id }) => id));
      ({ position, isCut } = page);
    }
    expect(pages).toEqual([[], wanted, []]);
    const readTwo = function* (): Steps<SubmissionFilter> {
      yield* [];
      return filter;
    };
    const followed: string[] = [];
    let waits = 0;
    const tail = { readFilter: readTwo, from: TAIL_START, pageSize: 2 };
    const changed = async (): Promise<void> => {
      waits += 1;
      followed.push("waits");
      await storeAll(db, given(two, 1));
    };
    for await (const { id } of followSubmissions(db, tail, changed)) {
      followed.push(id);
      if (waits > 0) break;
    }
    expect(followed.slice(0, 4)).toEqual([...wanted, "waits"]);
  });

  test("who follows gets each submission that is committed while it waits, once and in the order of commits", async () => {
    const db = await temporary();
    const { one, store } = await withEndpoints(db);
    await store(one, NOON);
    const from = await db.read(tailEnd);
    const expected = [await store(one, NOON + 5000)];
    const changed = async (): Promise<void> => {
      expected.push(await store(one, NOON), await store(one, NOON - 5000));
    };
    const followed: string[] = [];
    const tail = { readFilter: readAny, from, pageSize: 2 };
    for await (const { id } of followSubmissions(db, tail, changed)) {
      followed.push(id);
      if (followed.length === 5) break;
    }
    expect(followed).toEqual(expected);
  });

  test("tail goes on after a submission, or, if that is gone, with the submissions of later ids", async () => {
    const db = await temporary();
    const { one, two, store } = await withEndpoints(db);
    const [first, second] = [await store(one, NOON), await store(one, NOON + 1)];
    const early = await store(two, NOON - 60_000);
    const after = async (cursor: string) => {
      const position = await db.read(() => tailAfter(cursor));
      return (await db.read(() => readTail(any, position, 5))).submissions.map(({ id }) => id);
    };
    expect(await after(first)).toEqual([second, early]);
    expect(await after(early)).toEqual([]);
    await db.transaction(() => deleteSubmissionRows([first]));
    expect(await after(first)).toEqual([second, early]);
    await db.transaction(() => deleteSubmissionRows([second]));
    expect(await after(second)).toEqual([]);
    await expect(db.read(() => tailAfter("sub_nonsense"))).rejects.toThrow("cursor");
  });

  test("a deleted submission's place is never given again, so that tail misses nothing", async () => {
    const db = await temporary();
    const { one, store } = await withEndpoints(db);
    const gone = await store(one, NOON);
    const position = await db.read(tailEnd);
    await db.transaction(() => deleteSubmissionRows([gone]));
    expect(await db.read(tailEnd)).toEqual(TAIL_START);
    const next = await store(one, NOON);
    const { submissions } = await db.read(() => readTail(any, position, 5));
    expect(submissions.map(({ id }) => id)).toEqual([next]);
  });
});

const INSERT = `INSERT INTO submission
  (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
  VALUES ($1, 1, 1, '{}', 0, '[]', '', '', 1)`;

async function connectForTest(address: string): Promise<Client> {
  const client = await connectPlainly(address);
  onTestFinished(() => client.end());
  return client;
}

test.skipIf(!hasPostgresql)(
  "a page of a tail looks at its own submissions alone, also if all of them were stored in one transaction",
  async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const { one, store } = await withEndpoints(db);
    await store(one, NOON);
    const client = await connectForTest(address);
    await client.query(`INSERT INTO submission
      (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
      SELECT 'sub_' || lpad(n::text, 26, '0'), endpoint_number, 1, '{}', 0, '[]', '', '', 0
      FROM submission, generate_series(1, 30000) AS n`);
    await client.query("VACUUM ANALYZE submission");
    const [bound, page] = await workOf(client, readTail(any, TAIL_START, 1000));
    expect(bound?.pages).toBeLessThan(100);
    expect(page?.pages).toBeLessThan(100);
  },
);

test.skipIf(!hasPostgresql)(
  "on PostgreSQL what another server is still storing is not passed over: all that came after it waits for it",
  async () => {
    const db = await temporaryPostgresql();
    const { one } = await withEndpoints(db);
    const slow = asSubmission({ endpointId: one, createdAt: NOON });
    const seen = async () =>
      (await db.read(() => readTail(any, TAIL_START, 5))).submissions.map(({ id }) => id);
    let quick = "";
    await db.withConnection(async (client) => {
      await client.query("BEGIN");
      await client.query(INSERT, [slow.id]);
      [quick = ""] = await storeSubmissions(db, [{ endpointId: one, createdAt: NOON + 1 }]);
      expect(await seen()).toEqual([]);
      await client.query("COMMIT");
    });
    await untilTailed(db);
    expect(await seen()).toEqual([slow.id, quick]);
  },
);

test.skipIf(!hasPostgresql)(
  "on PostgreSQL who follows misses nothing and gets nothing twice, however long each of several servers takes to commit",
  async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    await withEndpoints(db);
    const writers = await Promise.all(Array.from({ length: 4 }, () => connectForTest(address)));
    const isOpen = writers.map(() => false);
    const stored: string[] = [];
    const seen: string[] = [];
    let position = TAIL_START;
    const read = async (): Promise<void> => {
      const page = await db.read(() => readTail(any, position, 3));
      seen.push(...page.submissions.map(({ id }) => id));
      position = page.position;
    };
    // Each number says who begins a transaction, or ends the one it has; the first one is seldom asked.
    const turns = [0, 1, 2, 1, 3, 2, 1, 3, 1, 2, 1, 0, 2, 1, 3, 2, 0, 3, 1, 2, 1, 2, 3, 1, 2, 0, 3, 1];
    for (const turn of turns) {
      const writer = writers[turn]!;
      if (isOpen[turn] === true) await writer.query("COMMIT");
      else {
        const id = newId("sub", NOON + stored.length);
        stored.push(id);
        await writer.query("BEGIN");
        await writer.query(INSERT, [id]);
      }
      isOpen[turn] = isOpen[turn] !== true;
      await read();
    }
    for (const [index, writer] of writers.entries()) if (isOpen[index] === true) await writer.query("COMMIT");
    await untilTailed(db);
    for (const _ of stored) await read();
    expect(seen.toSorted()).toEqual(stored.toSorted());
  },
);
