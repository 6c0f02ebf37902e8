import { expect, test } from "vitest";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { createBackground } from "../../src/foundation/background.ts";
import { firstIdAt, newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { createDayCounter } from "../../src/submissions/find/count-by-day.ts";
import { heldAdder } from "../support/held-posts.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { asSubmission, submissionAdder } from "../support/add-submission.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { until } from "../support/until.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** Noon of a day; ids never go back with a clock that is set back a little. */
const NOON = Date.UTC(2026, 9, 20, 12);

function world() {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => insertAccountRows("ana@example.org", NOON));
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const [one = "", two = ""] = [1, 2].map(
    () => db.now(() => insertEndpointRow(workspace, made, plans, NOON)).id,
  );
  const add = submissionAdder(db);
  const addHeld = heldAdder(db);
  const hold = (endpointId: string, createdAt: number): void => {
    const post = asSubmission({ endpointId, createdAt, id: newId("held", createdAt) });
    const held = { ...post, workspaceId: workspace.id, why: "spam" as const };
    db.transactionNow(() => addHeld(held));
  };
  // Whoever waits for a count sees why it failed.
  const count = createDayCounter(
    db,
    createBackground(() => {}),
  );
  const countAtOnce: typeof count = async (ids, days, now) => {
    const found = await count(ids, days, now);
    expect(found).not.toBeNull();
    return found;
  };
  return { db, one, two, add, hold, count, countAtOnce };
}

test("accepted and held posts are counted by the day, of all endpoints or of some", async () => {
  const { db, one, two, add, hold, countAtOnce } = world();
  const count = async (ids: readonly string[] | null, days: number, now: number) =>
    (await countAtOnce(ids, days, now)) ?? [];
  add({ endpointId: one, createdAt: NOON - 30 * DAY_MS });
  add({ endpointId: one, createdAt: NOON - 2 * DAY_MS });
  add({ endpointId: two, createdAt: NOON - 2 * DAY_MS + 5 });
  hold(two, NOON - DAY_MS);
  add({ endpointId: one, createdAt: NOON - 3_600_000 });
  const seen = async (ids: readonly string[] | null) =>
    (await count(ids, 30, NOON)).map(({ accepted, held }) => `${accepted}/${held}`).slice(-4);
  expect(await seen(null)).toEqual(["0/0", "2/0", "0/1", "1/0"]);
  expect(await seen([two])).toEqual(["0/0", "1/0", "0/1", "0/0"]);
  expect(await seen([one, two])).toEqual(["0/0", "2/0", "0/1", "1/0"]);
  expect(await seen([])).toEqual(["0/0", "0/0", "0/0", "0/0"]);
  expect(
    (await count(null, 30, NOON)).map(({ accepted }) => accepted).reduce((sum, each) => sum + each),
  ).toBe(3);
  // What came since is seen at once; what was deleted of an older day, after ten minutes.
  add({ endpointId: one, createdAt: NOON });
  expect(await seen([one])).toEqual(["0/0", "1/0", "0/0", "2/0"]);
  db.execute("DELETE FROM submission");
  const later = await count([one], 30, NOON + 600_000);
  for (let page = 0; page < 10; page += 1) await count([one], 30, NOON + 600_000);
  expect(later).toHaveLength(30);
  const last = await count([one], 30, NOON + 600_000);
  expect(last.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(0);
});

test("a day with more posts than one slice counts is divided until each part fits", async () => {
  const { db, one, add, count } = world();
  const start = NOON - DAY_MS + 60_000;
  db.transactionNow(() => {
    for (let index = 0; index < 45_000; index += 1) add({ endpointId: one, createdAt: start + index });
  });
  for (const ids of [null, [one]]) {
    const days = await until(() => count(ids, 3, NOON + DAY_MS));
    expect(days.map(({ accepted }) => accepted)).toEqual([45_000, 0, 0]);
  }
});

test("nobody waits for the first count of very many posts, and it goes on to its end", async () => {
  const { db, one, add, count } = world();
  const data = add({ endpointId: one, createdAt: NOON });
  const prefix = firstIdAt("sub", NOON - DAY_MS).slice(0, -8);
  db.execute(`INSERT INTO submission
      (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 120000)
    SELECT '${prefix}' || printf('%08d', n), endpoint_number, 1, data, 0, '[]', '', '', created_at
      FROM numbers, submission WHERE id = '${data}'`);
  expect(await count(null, 30, NOON)).toBeNull();
  const days = await until(() => count(null, 30, NOON));
  expect(days.map(({ accepted }) => accepted).slice(-3)).toEqual([0, 120_000, 1]);
});

test("a count ends with the server", async () => {
  const { db } = world();
  const background = createBackground(() => {});
  const counting = createDayCounter(db, background)(null, 3, NOON);
  await Promise.all([background.close(), expect(counting).rejects.toMatchObject({ code: "unavailable" })]);
});

test("every count is answered by an index alone", () => {
  const { db } = world();
  const plan = (sql: string): string =>
    (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join("; ");
  expect(
    plan("SELECT count(*) FROM (SELECT 1 FROM submission WHERE id >= 'a' AND id < 'b' LIMIT 9)"),
  ).toContain("USING COVERING INDEX");
  const own = `SELECT 1 FROM endpoint_number AS own CROSS JOIN submission
    WHERE submission.endpoint_number = own.number AND submission.id >= 'a' AND submission.id < 'b' AND own.endpoint_id IN (SELECT value FROM json_each('[]'))`;
  expect(plan(`SELECT count(*) FROM (${own} LIMIT 9)`)).toMatch(
    /SEARCH submission USING COVERING INDEX submission_by_endpoint \(endpoint_number=\? AND id>\? AND id<\?\)/,
  );
});
