import { describe, expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all } from "../../src/database/steps.ts";
import { addRefusals, markOriginRow, readIgnoredOrigins } from "../../src/endpoints/refused-origins.ts";
import { newId } from "../../src/foundation/id.ts";
import type { PendingHeld } from "../../src/submissions/commit/batch.ts";
import { addPlace, batchServer, type Place } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { newHeld } from "../support/held-posts.ts";
import { releasePost } from "../support/terminal.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const OWN = "https://bakery.example";
const NEW_SITE = "https://new.bakery.example";

async function listedForm(server: TestServer) {
  const form = await server.addEndpoint({ settings: { allowedOrigins: [OWN] } });
  const send = (body: object = goodPost, headers: Record<string, string> = {}) =>
    server.post(form.publishable, body, { origin: NEW_SITE, ...headers });
  return { form, send };
}

interface Held {
  readonly why: string;
  readonly origin: string | null;
  readonly name: string;
  readonly score: number;
}

function heldIn({ owner }: TestServer): Held[] {
  return owner
    .prepare("SELECT why, origin, data ->> 'name' AS name, spam_score AS score FROM held ORDER BY id")
    .all() as Held[];
}

function countsIn({ owner }: TestServer): { origin: string; posts: number }[] {
  return owner.prepare("SELECT origin, posts FROM refused_origin ORDER BY origin").all() as {
    origin: string;
    posts: number;
  }[];
}

test("a lead from a page that is not listed is refused as before, and kept, scored and counted", async () => {
  const server = await startServer();
  const { send } = await listedForm(server);
  const { status, json } = await send();
  expect([status, json["error"], json["message"]]).toEqual([
    403,
    "Forbidden",
    "This page's origin is not among the endpoint's allowed origins.",
  ]);
  expect(json["visitor_message"]).toMatch(/tell the owner of the site/);
  expect(heldIn(server)).toEqual([
    { why: "origin", origin: NEW_SITE, name: goodPost.name, score: expect.any(Number) as number },
  ]);
  await until(() => countsIn(server).length > 0);
  await send({ ...goodPost, name: "Ben" });
  await until(() => countsIn(server)[0]?.posts === 2);
  expect(countsIn(server)).toEqual([{ origin: NEW_SITE, posts: 2 }]);
  const logged = server.log.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(logged.filter(({ event }) => event === "origin.refused")).toMatchObject([
    { level: "warn", origin: NEW_SITE, posts: 1 },
    { level: "warn", origin: NEW_SITE, posts: 1 },
  ]);
});

test("what a visitor sends again with the same Idempotency-Key is kept once", async () => {
  const server = await startServer();
  const { send } = await listedForm(server);
  for (let tries = 0; tries < 3; tries += 1)
    expect((await send(goodPost, { "idempotency-key": "one" })).status).toBe(403);
  expect(heldIn(server)).toHaveLength(1);
});

describe("nothing is kept", () => {
  test.each<[string, object, Record<string, string>]>([
    ["of a robot that fills a honeypot", { ...goodPost, _gotcha: "x" }, {}],
    ["of a post that does not match the schema", { name: 5 }, {}],
    ["of an origin that is none", goodPost, { origin: "nowhere at all" }],
    ["of an origin that is too long", goodPost, { origin: `https://${"a".repeat(300)}.example` }],
  ])("%s", async (_what, body, headers) => {
    const server = await startServer();
    const { send } = await listedForm(server);
    expect((await send(body, headers)).status).toBe(403);
    expect(heldIn(server)).toEqual([]);
  });

  test("of a post without an origin, on a paused form, or with a secret key from a browser", async () => {
    const server = await startServer();
    const { form, send } = await listedForm(server);
    expect((await server.post(form.publishable, goodPost)).status).toBe(403);
    expect((await server.post(form.secret, goodPost, { origin: NEW_SITE })).status).toBe(403);
    server.owner.execute(`UPDATE endpoint SET state = 'paused'`);
    await server.restart();
    expect((await send()).status).toBe(403);
    await server.restart();
    expect([heldIn(server), countsIn(server)]).toEqual([[], []]);
  });

  test("of a page that its owner ignores, which is counted on all the same", async () => {
    const server = await startServer();
    const { form, send } = await listedForm(server);
    await send();
    await until(() => countsIn(server).length > 0);
    server.owner.now(() => markOriginRow(form.id, NEW_SITE, true));
    let kept = 0;
    // The server notices the change within a second; what comes before that is kept.
    await until(async () => {
      kept = heldIn(server).length;
      await send({ ...goodPost, name: "later" });
      return heldIn(server).length === kept;
    });
    for (let sent = 0; sent < 3; sent += 1) expect((await send()).status).toBe(403);
    expect(heldIn(server)).toHaveLength(kept);
    await until(() => (countsIn(server)[0]?.posts ?? 0) >= 4);
  });
});

test("a flood from foreign pages is read 30 times a minute at most, and the rest is refused by its headers alone", async () => {
  const server = await startServer();
  const { send } = await listedForm(server);
  for (let count = 0; count < 40; count += 1)
    expect((await send({ ...goodPost, name: `robot ${count}` })).status).toBe(403);
  expect(heldIn(server)).toHaveLength(30);
  await server.restart();
  expect(countsIn(server)).toEqual([{ origin: NEW_SITE, posts: 40 }]);
});

test("the address's limit comes first, so that a stranger gains no more posts than before", async () => {
  const server = await startServer({ rateLimit: { publishable: { max: 2, windowSeconds: 60 } } });
  const { send } = await listedForm(server);
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await send()).status);
  expect(statuses).toEqual([403, 403, 429, 429]);
  expect(heldIn(server)).toHaveLength(2);
});

function post(
  { held }: Place,
  more: { network?: string; why?: "limit" | "origin"; name?: string } = {},
): PendingHeld {
  const { network = "a", why = "origin", name = "" } = more;
  const base = held();
  const origin = why === "origin" ? { origin: NEW_SITE } : {};
  const made = { ...base.held, id: newId("held", NOON), why, data: { name }, ...origin };
  return { ...base, ...newHeld(made, { network }) };
}

describe.each(ENGINES)("posts that are held for their origin on $name", ({ temporary }) => {
  const names = async (db: Awaited<ReturnType<typeof temporary>>, why: string) =>
    (await rowsOf<{ data: string }>(db, `SELECT data FROM held WHERE why = '${why}' ORDER BY id`)).map(
      ({ data }) => (JSON.parse(data) as { name: string }).name,
    );

  test("are 100 an endpoint at most, push out only their own kind, and those of the largest network first", async () => {
    const db = await temporary();
    const [one, two] = [await addPlace(db, "ana"), await addPlace(db, "ben")];
    const server = batchServer(db);
    await server.write([
      post(one, { network: "lead", name: "lead" }),
      post(one, { why: "limit", name: "limit" }),
      post(two),
    ]);
    const { evictions } = await server.write(
      Array.from({ length: 110 }, (_, index) => post(one, { network: "flood", name: `robot ${index}` })),
    );
    expect(evictions).toEqual([
      { workspaceId: one.workspaceId, bound: "origins", spam: 0, limit: 0, origin: 11 },
    ]);
    const left = await names(db, "origin");
    expect(left).toHaveLength(101);
    expect(left).toContain("lead");
    expect(left).not.toContain("robot 10");
    expect(left).toContain("robot 11");
    expect(await names(db, "limit")).toEqual(["limit"]);
  });

  test("go before all others when the workspace has no room", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const server = batchServer(db, { maxHeld: 3 });
    await server.write([
      post(place, { name: "foreign 1", network: "b" }),
      post(place, { name: "foreign 2", network: "c" }),
    ]);
    await server.write(["Ada", "Ben"].map((name) => post(place, { why: "limit", name })));
    expect(await names(db, "origin")).toEqual(["foreign 2"]);
    await server.write([post(place, { why: "limit", name: "Cleo" })]);
    expect([await names(db, "origin"), await names(db, "limit")]).toEqual([[], ["Ada", "Ben", "Cleo"]]);
  });

  test("are released as they were: counted, and a lesson only if they were taken for spam", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const genuine = post(place, { name: "Ana" });
    const other = post(place, { name: "Robot" });
    const spam = { ...other, held: { ...other.held, spamScore: 90, spamClass: "blocked" as const } };
    await batchServer(db).write([genuine, spam]);
    const parts = {
      db,
      plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } },
    };
    const released = await releasePost(parts, genuine.held.id, NOON);
    expect(released).toMatchObject({ data: { name: "Ana" }, spamScore: genuine.held.spamScore });
    expect(await rowsOf(db, "SELECT mark FROM lesson")).toEqual([]);
    expect(await releasePost(parts, spam.held.id, NOON)).toMatchObject({ spamScore: 0 });
    expect(await rowsOf(db, "SELECT mark FROM lesson")).toEqual([{ mark: "ham" }]);
    expect(await rowsOf(db, "SELECT used FROM usage")).toEqual([{ used: 2 }]);
  });

  test("are counted together by several servers, 20 origins an endpoint, and what is ignored stays", async () => {
    const db = await temporary();
    const { endpointId } = await addPlace(db);
    const refused = (origin: string, posts: number, lastAt = NOON) => ({ endpointId, origin, posts, lastAt });
    const gone = { ...refused(OWN, 1), endpointId: "ep_gone" };
    await Promise.all(
      [1, 2, 3].map(() =>
        db.transaction(() => addRefusals([refused(NEW_SITE, 2), refused("null", 1), gone])),
      ),
    );
    const list = () =>
      db.read(() => all(query.selectFrom("refused_origin").select(["origin", "posts"]).orderBy("origin")));
    expect(await list()).toEqual([
      { origin: NEW_SITE, posts: 6 },
      { origin: "null", posts: 3 },
    ]);
    await db.transaction(() => markOriginRow(endpointId, NEW_SITE, true));
    const flood = Array.from({ length: 50 }, (_, index) =>
      refused(`https://${String(index).padStart(2, "0")}.example`, 1, NOON + 1 + index),
    );
    await db.transaction(() => addRefusals(flood));
    const left = (await list()).map(({ origin }) => origin);
    expect(left).toHaveLength(20);
    expect(left).toContain(NEW_SITE);
    expect(left).toContain("https://49.example");
    expect(left).not.toContain("null");
    expect(await db.read(() => readIgnoredOrigins(endpointId))).toEqual(new Set([NEW_SITE]));
    await expect(db.transaction(() => markOriginRow(endpointId, "https://x.example", true))).rejects.toThrow(
      "was refused",
    );
  });
});
