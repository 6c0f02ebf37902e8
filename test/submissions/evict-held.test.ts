import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings, type StoreAddress } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { EVICT_SQL, type Eviction, evictHeld } from "../../src/submissions/held/evict-held.ts";
import { dropExpired } from "../../src/submissions/held/held-post.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { asSubmission } from "../support/add-submission.ts";
import { heldAdder } from "../support/held-posts.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const oneAMonth = { few: { monthlySubmissions: 1, endpoints: null, customSpam: false } };

/** A server whose month is full, with room for that number of held posts; `send` posts a lead from an address. */
async function fullMonth(maxPerWorkspace: number, storeAddress: StoreAddress = "full") {
  const server = await startServer({ plans: oneAMonth, held: { maxPerWorkspace } });
  const { secret, workspaceId } = await server.addEndpoint({ plan: "few", settings: { storeAddress } });
  await server.post(secret, goodPost);
  const send = async (name: string, address: string, more: object = {}): Promise<void> => {
    server.clock.advance(1000);
    const answer = await server.post(secret, { ...goodPost, name, ...more }, { "x-submitter-ip": address });
    expect(answer.status).toBe(429);
  };
  return { server, workspaceId, send };
}

function heldNames({ owner }: TestServer): unknown[] {
  return owner.prepare("SELECT data ->> 'name' FROM held ORDER BY id").pluck().all();
}

function loggedEvents(server: TestServer, event: string): Record<string, unknown>[] {
  return server.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line["event"] === event);
}

test("a flood of held posts pushes out its own posts, however it spreads over its network", async () => {
  const networks = [
    (host: number) => `203.0.113.${host}`,
    (host: number) => `2001:db8:0:${host}::1`,
    (host: number) => `2001:db8:7::${host}:1`,
  ];
  for (const addressOf of networks) {
    const { server, send } = await fullMonth(5);
    await send("Ada", "192.0.2.7");
    await send("Ben", "198.51.100.7");
    for (let host = 1; host <= 12; host += 1) await send(`robot ${host}`, addressOf(host));
    await send("Cleo", "2001:db8:ffff::1");
    expect(heldNames(server)).toEqual(["Ada", "Ben", "robot 11", "robot 12", "Cleo"]);
  }
});

test("the network counts even if its address is shortened or not stored at all", async () => {
  for (const storeAddress of ["short", "none"] as const) {
    const { server, send } = await fullMonth(3, storeAddress);
    await send("Ada", "192.0.2.7");
    for (const host of [1, 2, 3, 4, 5]) await send(`robot ${host}`, `203.0.113.${host}`);
    expect(heldNames(server)).toEqual(["Ada", "robot 4", "robot 5"]);
    expect(server.owner.prepare("SELECT DISTINCT ip_address FROM held ORDER BY 1").pluck().all()).toEqual(
      storeAddress === "none" ? [""] : ["192.0.2.0", "203.0.113.0"],
    );
    expect(JSON.stringify(server.owner.prepare("SELECT * FROM held_network").all())).not.toContain(
      "203.0.113",
    );
  }
});

test("each transaction that evicts posts says so in the log, with how many of which kind in which workspace", async () => {
  const { server, workspaceId, send } = await fullMonth(2);
  await send("Ada", "192.0.2.7");
  await send("robot 1", "203.0.113.1");
  expect(loggedEvents(server, "held.evicted")).toEqual([]);
  await send("robot 2", "203.0.113.2");
  await send("trapped", "203.0.113.3", { _gotcha: "x" });
  await send("robot 3", "203.0.113.4");
  const facts = { level: "warn", workspaceId, bound: "held.maxPerWorkspace", origin: 0 };
  expect(loggedEvents(server, "held.evicted")).toMatchObject([
    { ...facts, spam: 0, limit: 1 },
    { ...facts, spam: 1, limit: 0 },
    { ...facts, spam: 0, limit: 1 },
  ]);
  expect(server.owner.prepare("SELECT posts, evicted, evicted_at FROM held_total").all()).toEqual([
    { posts: 2, evicted: 3, evicted_at: server.clock.now() },
  ]);
});

interface Bench {
  readonly db: SqliteDatabase;
  readonly insert: (post: { network: string; trapped: boolean; at: number }) => string;
  readonly evict: (maxPerWorkspace: number) => Eviction | null;
}

function bench(): Bench {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => insertAccountRows("ana@example.org", NOON));
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const endpoint = db.now(() => insertEndpointRow(workspace, made, plans, NOON));
  const add = heldAdder(db);
  return {
    db,
    insert({ network, trapped, at }) {
      const held = {
        ...asSubmission({ id: newId("held", at), endpointId: endpoint.id, createdAt: at }),
        workspaceId: workspace.id,
        why: trapped ? ("spam" as const) : ("limit" as const),
      };
      add(held, { trapped, network });
      return held.id;
    },
    evict: (max) => db.now(() => evictHeld(workspace.id, { posts: max, bytes: null }, NOON)),
  };
}

interface Row {
  readonly id: string;
  readonly network: string;
  readonly trapped: boolean;
}

type Step =
  | { readonly kind: "insert"; readonly network: string; readonly trapped: boolean; readonly at: number }
  | { readonly kind: "delete"; readonly which: number }
  | { readonly kind: "evict"; readonly max: number };

/** The law in the plainest way: count every network anew for each post that goes. */
function evictPlainly(rows: Row[], max: number): Row[] {
  let left = rows;
  while (left.length > max) {
    const size = (row: Row) => left.filter(({ network }) => network === row.network).length;
    const [first] = left.toSorted(
      (a, b) => size(b) - size(a) || Number(b.trapped) - Number(a.trapped) || (a.id < b.id ? -1 : 1),
    );
    left = left.filter((row) => row !== first);
  }
  return left;
}

test("of the largest networks' posts a filled honeypot goes first, then the oldest, whatever came and went before", () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("insert" as const),
        network: fc.constantFrom("a", "b", "c", "d"),
        trapped: fc.boolean(),
        at: fc.integer({ min: 1, max: 9 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), which: fc.nat() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("evict" as const), max: fc.integer({ min: 1, max: 6 }) }),
    },
  );
  const { db, insert, evict } = bench();
  const ids = db.prepare("SELECT id FROM held ORDER BY id").pluck();
  const counted = db.prepare("SELECT network, posts FROM held_network ORDER BY network");
  const grouped = db.prepare("SELECT network, count(*) AS posts FROM held GROUP BY network ORDER BY network");
  const follow = (steps: readonly Step[]): void => {
    db.execute("DELETE FROM held");
    let rows: Row[] = [];
    for (const one of steps) {
      if (one.kind === "insert") {
        rows.push({ ...one, id: insert({ ...one, at: NOON + one.at }) });
      } else if (one.kind === "delete") {
        const [gone] = rows.splice(one.which % Math.max(1, rows.length), 1);
        if (gone !== undefined) db.execute(`DELETE FROM held WHERE id = '${gone.id}'`);
      } else {
        rows = evictPlainly(rows, one.max);
        evict(one.max);
      }
      expect(ids.all()).toEqual(rows.map(({ id }) => id).toSorted());
      expect(counted.all()).toEqual(grouped.all());
    }
  };
  const steps = fc.array(step, { minLength: 20, maxLength: 60, size: "max" });
  fc.assert(
    fc.property(steps, (each) => db.transactionNow(() => follow(each))),
    { numRuns: 100 },
  );
});

test("an eviction reads one entry of an index, however many posts and networks there are", () => {
  const { db } = bench();
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${EVICT_SQL}`).all("", "") as { detail: string }[];
  const plan = rows.map(({ detail }) => detail).join("; ");
  expect(plan).toMatch(/held_network USING COVERING INDEX held_network_by_posts \(workspace_id=\?\)/);
  expect(plan).not.toMatch(/\bSCAN\b(?! CONSTANT)|TEMP B-TREE/);
});

test("after a lower limit at most 1,024 posts go at once, and the next posts' transactions take the rest", () => {
  const { db, insert, evict } = bench();
  db.transactionNow(() => {
    for (let count = 0; count < 1500; count += 1) insert({ network: "a", trapped: false, at: NOON + count });
  });
  const [first, second, third] = [1, 2, 3].map(() => db.transactionNow(() => evict(10)));
  expect(first).toMatchObject({ limit: 1024 });
  expect(second).toMatchObject({ limit: 466 });
  expect(third).toBeNull();
  expect(db.prepare("SELECT posts, evicted FROM held_total").get()).toEqual({ posts: 10, evicted: 1490 });
});

test("held posts expire 500 at a time, so that no transaction is long", () => {
  const { db, insert } = bench();
  db.transactionNow(() => {
    for (let count = 0; count < 620; count += 1) insert({ network: "a", trapped: false, at: NOON });
  });
  const later = NOON + 2 * DAY_MS;
  expect([1, 2, 3].map(() => db.now(() => dropExpired(1, later)))).toEqual([500, 120, 0]);
  expect(db.prepare("SELECT count(*) FROM held_network").pluck().get()).toBe(0);
});

test("deleting an endpoint leaves no count of its held posts behind", () => {
  const { db, insert } = bench();
  for (const network of ["a", "b", "a"]) insert({ network, trapped: false, at: NOON });
  db.execute("DELETE FROM endpoint");
  expect(db.prepare("SELECT count(*) FROM held_network").pluck().get()).toBe(0);
  expect(db.prepare("SELECT posts FROM held_total").pluck().get()).toBe(0);
});
