import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import type { BatchConnection } from "../../src/database/postgresql/batch-connection.ts";
import { moveEndpoint } from "../../src/endpoints/move-endpoint.ts";
import { LOCK_ENDPOINTS } from "../../src/endpoints/postgresql-endpoints.ts";
import { newId } from "../../src/foundation/id.ts";
import type { Batch } from "../../src/submissions/commit/batch.ts";
import type { MayReply } from "../../src/outbox/queue/outbox.ts";
import { countUse, isWithin, quotaKey } from "../../src/outbox/queue/quotas.ts";
import { REPLY_KIND } from "../../src/outbox/queue/recipient.ts";
import { getSubmission } from "../../src/submissions/stored/submission-store.ts";
import { addPlace, batchServer, outcomesOf, type Place, tally } from "../support/batch-world.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { performOn } from "../support/terminal.ts";
import { until } from "../support/until.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const WAITING_SQL =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

async function countOf(db: Database, table: string): Promise<number> {
  return (await rowsOf<{ rows: number }>(db, `SELECT count(*) AS rows FROM ${table}`))[0]?.rows ?? 0;
}

async function usedIn(db: Database): Promise<Record<string, number>> {
  const rows = await rowsOf<{ month: string; used: number }>(db, "SELECT month, used FROM usage");
  return Object.fromEntries(rows.map(({ month, used }) => [month, used]));
}

function* oncePerMailbox(...[, posted, now]: Parameters<MayReply>): ReturnType<MayReply> {
  const { id, data } = posted.submission;
  const quotas = [{ key: quotaKey("mailbox", String(data["email"])), most: 1, ms: DAY_MS }];
  if (!(yield* isWithin(quotas, now))) return false;
  yield* countUse(quotas, id, now);
  return true;
}

describe.each(ENGINES)("a batch on $name", ({ temporary }) => {
  test("is stored whole, and every value comes back as it was", async () => {
    const db = await temporary();
    const { pending, held } = await addPlace(db);
    const data = {
      text: 'quote " back \\ \u0000 \u{1f600} \ud800 \u2028',
      list: [1.5, null, true],
      "\u0001": "",
    };
    const of = {
      data,
      spamScore: 42,
      ipAddress: "2001:db8::1",
      userAgent: "UA \u00e9 \ud800 \0",
    };
    const posts = [pending({ of }), pending(), pending()];
    const kept = held();
    expect(await outcomesOf(batchServer(db), [...posts, kept])).toEqual(Array(4).fill("stored"));
    const [first] = posts.map(({ submission }) => submission);
    const stored = await db.read(() => getSubmission(first?.id ?? ""));
    expect({ ...stored, userAgent: "" }).toEqual({
      ...first,
      data: stored.data,
      spamClass: "medium",
      userAgent: "",
    });
    expect(JSON.stringify(stored.data)).toBe(JSON.stringify(data));
    expect(stored.userAgent).toMatch(/^UA \u00e9 \ufffd [\0\ufffd]$/);
    expect([await countOf(db, "submission"), await countOf(db, "held")]).toEqual([3, 1]);
    expect(await usedIn(db)).toEqual({ "2026-06": 3 });
  });

  test("meets the monthly limit exactly, and sees what others counted", async () => {
    const db = await temporary();
    const { pending, workspaceId } = await addPlace(db);
    const server = batchServer(db);
    await server.write([pending({ monthlyLimit: 10 })]);
    await write(db, `UPDATE usage SET used = 4 WHERE workspace_id = '${workspaceId}'`);
    const batch = Array.from({ length: 20 }, () => pending({ monthlyLimit: 10 }));
    expect(tally(await outcomesOf(server, batch))).toEqual({ stored: 6, over_limit: 14 });
    expect([await usedIn(db), await countOf(db, "submission")]).toEqual([{ "2026-06": 10 }, 7]);
  });

  test("counts each month and workspace by itself", async () => {
    const db = await temporary();
    const [ana, ben] = [await addPlace(db, "ana"), await addPlace(db, "ben")];
    const last = Date.UTC(2026, 6, 1) - 1;
    const at = (createdAt: number, place = ana) => place.pending({ monthlyLimit: 2, of: { createdAt } });
    const batch = [at(last), at(last), at(last + 1), at(last), at(last + 1), at(last, ben)];
    const stored = Array(3).fill("stored");
    expect(await outcomesOf(batchServer(db), batch)).toEqual([...stored, "over_limit", "stored", "stored"]);
    const rows = await rowsOf(db, "SELECT month, used FROM usage ORDER BY month, used");
    expect(rows).toEqual([
      { month: "2026-06", used: 1 },
      { month: "2026-06", used: 2 },
      { month: "2026-07", used: 2 },
    ]);
  });

  test("tells the shares of a limit that it passes", async () => {
    const db = await temporary();
    const { pending, workspaceId } = await addPlace(db);
    const server = batchServer(db);
    const some = (count: number) => Array.from({ length: count }, () => pending({ monthlyLimit: 10 }));
    expect((await server.write(some(7))).marks).toEqual([]);
    const facts = { workspaceId, month: "2026-06", limit: 10 };
    expect((await server.write(some(2))).marks).toEqual([{ ...facts, percent: 80, used: 9 }]);
    expect((await server.write(some(4))).marks).toEqual([{ ...facts, percent: 100, used: 10 }]);
  });

  test("stores all others when an endpoint was deleted meanwhile", async () => {
    const db = await temporary();
    const { pending, held, idempotent } = await addPlace(db);
    const lost = { endpointId: newId("ep", NOON) };
    const orphan = { ...idempotent("key"), ...lost };
    const kept = held();
    const batch = [
      pending(),
      pending({ of: lost, idempotent: orphan }),
      { ...kept, held: { ...kept.held, id: newId("held", NOON), ...lost } },
      kept,
      pending(),
    ];
    expect(await outcomesOf(batchServer(db), batch)).toEqual(["stored", "gone", "gone", "stored", "stored"]);
    expect([await countOf(db, "submission"), await countOf(db, "held")]).toEqual([2, 1]);
    expect([await usedIn(db), await countOf(db, "idempotency")]).toEqual([{ "2026-06": 2 }, 0]);
  });

  test("stores all others when an endpoint was moved meanwhile, and its old workspace deleted", async () => {
    const db = await temporary();
    const [from, to] = [await addPlace(db, "ana"), await addPlace(db, "ben")];
    const { endpointId, workspaceId } = from;
    await write(
      db,
      `UPDATE endpoint SET workspace_id = '${to.workspaceId}' WHERE id = '${endpointId}'`,
      `DELETE FROM workspace WHERE id = '${workspaceId}'`,
    );
    const proof = { id: Buffer.alloc(16, 7), expiresAt: NOON + DAY_MS };
    const posts = [to.pending(), from.pending({ idempotent: from.idempotent("key"), proof }), from.held()];
    const server = batchServer(db);
    expect(await outcomesOf(server, [...posts, to.held()])).toEqual(["stored", "moved", "moved", "stored"]);
    expect([await usedIn(db), await countOf(db, "held_total")]).toEqual([{ "2026-06": 1 }, 1]);
    // Its key and its proof are free for the next attempt, which knows the workspace.
    expect(await countOf(db, "idempotency")).toBe(0);
    const again = { ...from.pending({ proof }), workspaceId: to.workspaceId };
    expect(await outcomesOf(server, [again])).toEqual(["stored"]);
    expect(await usedIn(db)).toEqual({ "2026-06": 2 });
  });

  test("says of a post that cannot be stored for several reasons what every engine says", async () => {
    const db = await temporary();
    const { pending } = await addPlace(db);
    const server = batchServer(db);
    const full = { monthlyLimit: 0 };
    const files = { fileIds: [newId("fil", NOON)] };
    const proof = { id: Buffer.alloc(16, 7), expiresAt: NOON + DAY_MS };
    const lost = { of: { endpointId: newId("ep", NOON) } };
    const posts = [
      pending({ ...full, ...files, ...lost }),
      pending({ ...full, ...files, proof }),
      pending({ ...full, proof }),
    ];
    expect(await outcomesOf(server, posts)).toEqual(["gone", "incomplete", "over_limit"]);
    // None of them has spent the proof.
    expect(await outcomesOf(server, [pending({ proof }), pending({ ...full, proof })])).toEqual([
      "stored",
      "over_limit",
    ]);
    expect(await outcomesOf(server, [pending({ proof })])).toEqual(["spent"]);
  });

  test("remembers the keys of stored posts, and those of refused ones are free", async () => {
    const db = await temporary();
    const { pending, idempotent } = await addPlace(db);
    const server = batchServer(db);
    const post = (key: string, at = NOON) =>
      pending({ idempotent: idempotent(key), monthlyLimit: 1, of: { createdAt: at } });
    const stored = post("one");
    expect(await outcomesOf(server, [stored, post("two")])).toEqual(["stored", "over_limit"]);
    const rows = () =>
      rowsOf<{ submission_id: string }>(db, "SELECT submission_id FROM idempotency ORDER BY created_at");
    expect(await rows()).toEqual([{ submission_id: stored.submission.id }]);
    // A day later the key is new.
    const later = { ...post("one", NOON + DAY_MS), monthlyLimit: null };
    expect(await outcomesOf(server, [later])).toEqual(["stored"]);
    expect(await rows()).toEqual([{ submission_id: later.submission.id }]);
  });

  test("queues each submission for the recipients that want it, and wakes who sends", async () => {
    const db = await temporary();
    const { pending, recipient } = await addPlace(db);
    const [all, few] = [await recipient(100), await recipient(10)];
    const server = batchServer(db);
    const posts = [0, 50, 0].map((spamScore) => pending({ of: { spamScore } }));
    await server.write([...posts, ...Array.from({ length: 70 }, () => pending({ of: { spamScore: 90 } }))]);
    const rows = await rowsOf<{ recipient_id: string; message_count: number; messages: string }>(
      db,
      "SELECT recipient_id, message_count, messages FROM outbox ORDER BY number",
    );
    const of = (id: string) => rows.filter((row) => row.recipient_id === id);
    expect(of(all).map(({ message_count: count }) => count)).toEqual([64, 9]);
    const wanted = (JSON.parse(of(few)[0]?.messages ?? "") as [string, string][]).map(([, id]) => id);
    expect(wanted).toEqual([posts[0]?.submission.id, posts[2]?.submission.id]);
    expect(server.queued()).toBe(75);
    const [event] = await rowsOf<{ event_head: string }>(
      db,
      `SELECT event_head FROM submission WHERE id = '${posts[0]?.submission.id}'`,
    );
    expect(event?.event_head).toContain('"name":"Contact"');
  });

  test("queues an automatic reply for a sender who may get one, and counts it with the post", async () => {
    const db = await temporary();
    const { pending, recipient } = await addPlace(db);
    const reply = await recipient(100, REPLY_KIND);
    const server = batchServer(db, { mayReply: oncePerMailbox });
    const from = (email: string) => pending({ of: { data: { email } } });
    const posts = [from("a"), from("b"), from("a")];
    await server.write(posts);
    await server.write([from("b")]);
    const rows = await rowsOf<{ messages: string }>(
      db,
      `SELECT messages FROM outbox WHERE recipient_id = '${reply}'`,
    );
    const replied = rows.flatMap(({ messages }) => JSON.parse(messages) as [string, string][]);
    expect(replied.map(([, id]) => id)).toEqual(posts.slice(0, 2).map(({ submission }) => submission.id));
    expect(await countOf(db, "quota_use")).toBe(2);
  });

  test("holds a refused post once for a key and body, and lets the ones go that have no room", async () => {
    const db = await temporary();
    const { held, idempotent } = await addPlace(db);
    const server = batchServer(db, { maxHeld: 3 });
    const key = { idempotent: idempotent("key") };
    const post = (network: string, trapped = false) => {
      const made = held({ network, trapped });
      return { ...made, held: { ...made.held, id: newId("held", NOON) } };
    };
    await server.write([{ ...post("a"), ...key }]);
    const { outcomes, evictions } = await server.write([{ ...post("a"), ...key }, post("b"), post("b")]);
    expect([outcomes, evictions]).toEqual([Array(3).fill("stored"), []]);
    const full = await server.write([post("b", true), post("c")]);
    expect(full.evictions).toEqual([
      {
        workspaceId: expect.any(String) as string,
        bound: "held.maxPerWorkspace",
        spam: 2,
        limit: 0,
        origin: 0,
      },
    ]);
    const left = await rowsOf(
      db,
      "SELECT network, count(*) AS posts FROM held GROUP BY network ORDER BY network",
    );
    expect(left).toEqual([
      { network: "a", posts: 1 },
      { network: "b", posts: 1 },
      { network: "c", posts: 1 },
    ]);
    expect(await rowsOf(db, "SELECT posts, evicted, evicted_at FROM held_total")).toEqual([
      { posts: 3, evicted: 2, evicted_at: NOON },
    ]);
  });

  test("lets the workspace remember the texts that were stored", async () => {
    const db = await temporary();
    const { pending, workspaceId, endpointId } = await addPlace(db);
    const server = batchServer(db);
    const message =
      "Our gardeners in the valley sell roses, herbs and tools for your garden. Visit our shop on Saturday.";
    const post = (email: string) => ({
      fields: { email, message },
      honeypots: [],
      elapsedMs: null,
      client: null,
    });
    const recall = (email: string) =>
      db.read(() => server.memory.recall(workspaceId, endpointId, post(email), NOON));
    const medium = { of: { spamClass: "medium" as const } };
    await server.write([pending({ ...medium, recollection: await recall("a@example.org") })]);
    const { history } = await until(async () => {
      const recalled = await recall("b@example.org");
      return recalled.history.copies.otherSenders > 0 && recalled;
    });
    expect(history.copies.otherSenders).toBe(1);
    expect(await countOf(db, "remembered_text")).toBe(1);
  });
});

describe.skipIf(!hasPostgresql)("two servers on one PostgreSQL", () => {
  async function twoServers() {
    const address = await temporaryAddress();
    const dbs = [await openForTest(address), await openForTest(address)] as const;
    return {
      db: dbs[0],
      place: await addPlace(dbs[0]),
      servers: [batchServer(dbs[0]), batchServer(dbs[1])] as const,
    };
  }

  test("store exactly the limit of posts that come to both at once", async () => {
    const { db, place, servers } = await twoServers();
    const posts = Array.from({ length: 200 }, (_, index) =>
      servers[index % 2 === 0 ? 0 : 1].queue.add(place.pending({ monthlyLimit: 50 })),
    );
    const outcomes = await Promise.all(posts);
    expect(tally(outcomes)).toEqual({ stored: 50, over_limit: 150 });
    expect([await usedIn(db), await countOf(db, "submission")]).toEqual([{ "2026-06": 50 }, 50]);
  });

  test("store one of two posts with one key, and the other gets its id, or a refusal for another body", async () => {
    const { db, place, servers } = await twoServers();
    for (let round = 0; round < 20; round += 1) {
      const [one, two, other] = ["{}", "{}", "[]"].map((body) =>
        place.pending({ idempotent: place.idempotent(`key-${round}`, body) }),
      );
      const [first, second] = await Promise.all([servers[0].queue.add(one!), servers[1].queue.add(two!)]);
      const stored = first === "stored" ? one : two;
      expect([first, second]).toContain("stored");
      expect([first, second]).toContainEqual({ firstId: stored?.submission.id });
      expect(await servers[0].queue.add(other!)).toEqual({ firstId: null });
    }
    expect([await usedIn(db), await countOf(db, "submission")]).toEqual([{ "2026-06": 20 }, 20]);
  });

  test("reply once to a mailbox that is posted to workspaces on both at once", async () => {
    const address = await temporaryAddress();
    const dbs = [await openForTest(address), await openForTest(address)] as const;
    const places = [await addPlace(dbs[0]), await addPlace(dbs[0], "ben")] as const;
    for (const { recipient } of places) await recipient(100, REPLY_KIND);
    const servers = dbs.map((db) => batchServer(db, { mayReply: oncePerMailbox }));
    for (let round = 0; round < 20; round += 1) {
      const data = { email: `${round}@example.org` };
      await Promise.all(
        servers.map((server, index) =>
          outcomesOf(server, [places[index === 0 ? 0 : 1].pending({ of: { data } })]),
        ),
      );
    }
    expect(await countOf(dbs[0], "quota_use")).toBe(20);
  });

  test("store a batch whose workspace is deleted at that moment, and move no form while posts to it are stored", async () => {
    const address = await temporaryAddress();
    const dbs = [await openForTest(address), await openForTest(address)] as const;
    const [from, to] = [await addPlace(dbs[0], "ana"), await addPlace(dbs[0], "ben")];
    const input = { endpoint: from.endpointId, to: to.workspaceId };
    const isWaiting = async () => (await rowsOf(dbs[0], WAITING_SQL)).length > 0;
    /** What waits for a transaction that has run a statement, and ends after it. */
    const during = async <Result>(text: string, parameter: unknown, work: () => Promise<Result>) => {
      let waiting: Promise<Result> | undefined;
      await dbs[0].batches.transaction(async (transaction) => {
        await transaction.query({ name: text.slice(0, 6), text }, parameter);
        waiting = work();
        await until(isWaiting);
        await transaction.commit();
      });
      return waiting;
    };
    await during(LOCK_ENDPOINTS.text, [from.endpointId], () =>
      performOn(dbs[1], moveEndpoint, input, { parts: { endpointContents: { deletions: [], moves: [] } } }),
    );
    const outcomes = during("DELETE FROM workspace WHERE id = $1", from.workspaceId, () =>
      outcomesOf(batchServer(dbs[1]), [from.pending(), to.pending()]),
    );
    expect(await outcomes).toEqual(["moved", "stored"]);
  });

  test("wait for nobody in a circle, whatever workspaces and networks their batches name", async () => {
    const address = await temporaryAddress();
    const dbs = [await openForTest(address), await openForTest(address)] as const;
    const again: boolean[] = [];
    const servers = dbs.map((db) => {
      const batches: BatchConnection = {
        ...db.batches,
        transaction: (work) =>
          db.batches.transaction((each) => {
            again.push(each.isRetry);
            return work(each);
          }),
      };
      return batchServer({ ...db, batches } as Database);
    });
    const places = [await addPlace(dbs[0]), await addPlace(dbs[0], "ben"), await addPlace(dbs[0], "eve")];
    const networks = ["a", "b", "c", "d"];
    for (let round = 0; round < 20; round += 1) {
      const createdAt = NOON + round * 31 * DAY_MS;
      const posts = (each: Place): Batch =>
        round % 2 === 0
          ? [each.pending({ of: { createdAt }, idempotent: each.idempotent(newId("msg", NOON)) })]
          : networks.map((network) => each.held({ network }));
      const batch = places.flatMap(posts);
      await Promise.all([servers[0]?.write(batch), servers[1]?.write(places.flatMap(posts).toReversed())]);
    }
    expect([await countOf(dbs[0], "submission"), await countOf(dbs[0], "held")]).toEqual([60, 240]);
    expect([again.length, again.includes(true)]).toEqual([40, false]);
  });
});
