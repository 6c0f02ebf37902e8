import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { run, text } from "../../src/database/steps.ts";
import { newId } from "../../src/foundation/id.ts";
import type { PendingHeld } from "../../src/submissions/commit/batch.ts";
import type { Eviction } from "../../src/submissions/held/evict-held.ts";
import { heldBytes } from "../../src/submissions/held/held-post.ts";
import { createHeldRoom, heldByteLimit } from "../../src/submissions/commit/held-room.ts";
import { addPlace, batchServer, type Place } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";

const MIB = 1_048_576;
const plan = (heldBytes: number | null) => ({
  monthlySubmissions: 1,
  endpoints: null,
  customSpam: false,
  heldBytes,
});

/** A form whose month is full; `send` posts a lead to it from an address. */
async function fullMonth(server: TestServer, name: string) {
  const { secret, workspaceId } = await server.addEndpoint({ plan: name });
  await server.post(secret, goodPost);
  const send = async (message: string, address: string): Promise<void> => {
    server.clock.advance(10);
    const headers = { "x-submitter-ip": address };
    expect((await server.post(secret, { ...goodPost, message }, headers)).status).toBe(429);
  };
  return { workspaceId, send };
}

function bytesIn({ owner }: TestServer): Record<string, number> {
  const rows = owner
    .prepare("SELECT workspace_id AS id, sum(octet_length(data)) AS bytes FROM held GROUP BY workspace_id")
    .all() as { id: string; bytes: number }[];
  return Object.fromEntries(rows.map(({ id, bytes }) => [id, bytes]));
}

function evictions({ log }: TestServer): Record<string, unknown>[] {
  return log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === "held.evicted");
}

/** The address of another network each time. */
const elsewhere = (count: number): string => `203.${count % 256}.${113 + Math.floor(count / 256)}.9`;

test("a free account that floods its own form with large posts keeps no more bytes than its plan allows, and takes nobody else's", async () => {
  const server = await startServer({ plans: { free: plan(MIB), other: plan(MIB) } });
  const [greedy, other] = [await fullMonth(server, "free"), await fullMonth(server, "other")];
  await other.send("Are you open on Sunday?", "192.0.2.7");
  for (let count = 0; count < 40; count += 1) await greedy.send("a".repeat(60_000), elsewhere(count));
  const taken = bytesIn(server);
  expect(taken[greedy.workspaceId]).toBeLessThanOrEqual(MIB);
  expect(taken[greedy.workspaceId]).toBeGreaterThan(MIB - 70_000);
  expect(taken[other.workspaceId]).toBeGreaterThan(0);
  expect(evictions(server)[0]).toMatchObject({
    level: "warn",
    workspaceId: greedy.workspaceId,
    bound: "heldBytes",
    limit: 1,
  });
  const shown = server.owner
    .prepare("SELECT posts, bytes, evicted FROM held_total WHERE workspace_id = ?")
    .get(greedy.workspaceId) as { posts: number; bytes: number; evicted: number };
  expect(shown.posts + shown.evicted).toBe(40);
  expect(shown.bytes).toBeGreaterThanOrEqual(taken[greedy.workspaceId] ?? 0);
});

test("when all of them together take too much, the workspace with the most bytes gives way first, and small ones lose nothing", async () => {
  const server = await startServer({
    plans: { free: plan(null), second: plan(null), third: plan(null) },
    held: { maxBytes: MIB },
  });
  const greedy = [await fullMonth(server, "free"), await fullMonth(server, "second")];
  const small = await fullMonth(server, "third");
  for (const name of ["Ada", "Ben", "Cleo"]) await small.send(`${name}: ${"b".repeat(20_000)}`, "192.0.2.7");
  for (let count = 0; count < 30; count += 1)
    for (const { send } of greedy) await send("a".repeat(60_000), elsewhere(count));
  const taken = bytesIn(server);
  const all = Object.values(taken).reduce((sum, bytes) => sum + bytes, 0);
  expect(all).toBeLessThanOrEqual(MIB);
  expect(all).toBeGreaterThan(MIB - 200_000);
  expect(taken[small.workspaceId]).toBeGreaterThan(60_000);
  const [one = 0, two = 0] = greedy.map(({ workspaceId }) => taken[workspaceId]);
  expect(Math.abs(one - two)).toBeLessThanOrEqual(70_000);
  expect(new Set(evictions(server).map(({ bound }) => bound))).toEqual(new Set(["held.maxBytes"]));
  expect(evictions(server).some(({ workspaceId }) => workspaceId === small.workspaceId)).toBe(false);
});

test("without held.maxBytes a tenth of the free disk is the bound, counted as if nothing was held, so that deleting does not move it", () => {
  let free = 900 * MIB;
  const limit = heldByteLimit(null, () => free);
  expect(limit(100 * MIB)).toBe(100 * MIB);
  free += 60 * MIB;
  expect(limit(40 * MIB)).toBe(100 * MIB);
  expect(heldByteLimit(null, () => null)(0)).toBe(10_737_418_240);
  expect(heldByteLimit(5, () => 0)(100)).toBe(5);
});

/** A refused post with a text of this length. */
function post({ held }: Place, length: number, more: Partial<PendingHeld> = {}): PendingHeld {
  const made = held(more);
  const given = { ...made.held, id: newId("held", NOON), data: { message: "é".repeat(length / 2) } };
  return { ...made, held: given, bytes: heldBytes(given) };
}

/** What the table really has, and what the triggers counted. */
async function counted(db: Database): Promise<{ real: number; counted: number; posts: number }> {
  const [row] = await rowsOf<{ real: number; counted: number; posts: number }>(
    db,
    `SELECT sum(octet_length(id) + octet_length(data) + octet_length(spam_reasons) + octet_length(ip_address)
       + octet_length(user_agent)) AS real, (SELECT sum(bytes) FROM held_total) AS counted, count(*) AS posts FROM held`,
  );
  if (row === undefined) throw new Error("a count is one row");
  return row;
}

describe.each(ENGINES)("the bytes of held posts on $name", ({ temporary }) => {
  test("are counted exactly, whoever adds and deletes", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    await batchServer(db).write([post(place, 1000), post(place, 20_000), post(place, 10)]);
    const before = await counted(db);
    expect(before.counted).toBe(before.real);
    expect(before.counted).toBeGreaterThan(21_000);
    await db.transaction(function* () {
      yield* run(text("DELETE FROM held WHERE bytes > 10000"));
    });
    const after = await counted(db);
    expect(after).toMatchObject({ counted: after.real, posts: 2 });
  });

  test("stay within the plan's bound in the transaction that holds a post, whatever network it is from", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const server = batchServer(db);
    const bounds = { maxBytes: 50_000 };
    const { evictions: none } = await server.write([
      post(place, 20_000, bounds),
      post(place, 20_000, bounds),
    ]);
    expect(none).toEqual([]);
    const { evictions: some } = await server.write([
      post(place, 30_000, { ...bounds, network: "b" }),
      post(place, 300, { ...bounds, network: "c" }),
    ]);
    expect(some).toMatchObject([{ workspaceId: place.workspaceId, bound: "heldBytes", spam: 2 }]);
    expect((await counted(db)).counted).toBeLessThanOrEqual(50_000);
  });

  test("give way in all, the workspace with the most first, until there is room", async () => {
    const db = await temporary();
    const [one, two, three] = [
      await addPlace(db, "ana"),
      await addPlace(db, "ben"),
      await addPlace(db, "eve"),
    ];
    const gone: Eviction[] = [];
    const room = createHeldRoom({
      db,
      clock: createFakeClock(),
      maxBytes: () => 100_000,
      onEviction: (eviction) => void gone.push(eviction),
      onFailure: (error) => {
        throw error;
      },
    });
    const server = batchServer(db);
    const hold = async (posts: PendingHeld[]): Promise<void> => {
      room.note(await server.write(posts));
      await room.settle();
    };
    await hold([post(three, 10_000)]);
    await hold([post(one, 40_000), post(two, 20_000), post(two, 20_000)]);
    expect(gone).toEqual([]);
    await hold([post(one, 40_000)]);
    expect(gone).toMatchObject([{ workspaceId: one.workspaceId, bound: "held.maxBytes", spam: 1 }]);
    await hold(Array.from({ length: 10 }, () => post(two, 20_000)));
    expect(gone.slice(1).every(({ workspaceId }) => workspaceId === two.workspaceId)).toBe(true);
    const { counted: bytes, real } = await counted(db);
    expect(bytes).toBe(real);
    expect(bytes).toBeLessThanOrEqual(100_000);
    expect(bytes).toBeGreaterThan(70_000);
  });
});

test.runIf(hasPostgresql)(
  "two servers that hold posts for one workspace at once never pass its bound together, and count exactly",
  async () => {
    const address = await temporaryAddress();
    const dbs = [await openForTest(address), await openForTest(address)];
    const db: Database = dbs[0] ?? (await openForTest(address));
    const places = [await addPlace(db, "ana"), await addPlace(db, "ben")];
    const servers = dbs.map((each) => batchServer(each));
    await Promise.all(
      servers.map(async ({ write }, server) => {
        for (let round = 0; round < 15; round += 1)
          await write(
            places.flatMap((place) =>
              Array.from({ length: 5 }, (_, index) =>
                post(place, 10_000, { maxBytes: 200_000, network: `${server} ${index}` }),
              ),
            ),
          );
      }),
    );
    const rows = await rowsOf<{ posts: number; bytes: number; evicted: number }>(
      db,
      "SELECT posts, bytes, evicted FROM held_total",
    );
    for (const { posts, bytes, evicted } of rows) {
      expect(bytes).toBeLessThanOrEqual(200_000);
      expect(posts + evicted).toBe(150);
      expect(posts).toBeGreaterThanOrEqual(18);
    }
    const { real, counted: total } = await counted(db);
    expect(total).toBe(real);
  },
);
