import { describe, expect, onTestFinished, test } from "vitest";
import { NOTHING_TO_CONFIRM } from "../../src/database/confirmations.ts";
import { type Database, query } from "../../src/database/database.ts";
import type { LiveServers } from "../../src/database/live-servers.ts";
import { all, run, text } from "../../src/database/steps.ts";
import { NewMessages } from "../../src/outbox/queue/outbox.ts";
import { deliveryHeads } from "../../src/outbox/queue/delivery-heads.ts";
import { ownerOf } from "../../src/outbox/sending/owner.ts";
import { createClaims } from "../../src/outbox/engines/postgresql-claims.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { rowsOf as rowsInEngine } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { findPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { type EngineQueue, queueOn } from "../support/queue-on-engine.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { ANSWERED } from "../support/webhook-world.ts";

/** Attempts at once of one recipient. */
const IN_FLIGHT = 4;

/** Who lives, as a test says it. */
class Servers {
  #live: readonly string[] = [];
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** As the database's rows have it. Nobody says again that they live, and a busy machine may take longer than a server may be silent. */
  async live(...ids: readonly string[]): Promise<void> {
    this.#live = ids;
    await this.#db.transaction(function* () {
      yield* run(text("DELETE FROM live_server"));
      for (const id of ids)
        yield* run(
          text(
            `INSERT INTO live_server (id, program, schema_version, started_at, seen_at)
              SELECT ?, '1', 1, 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${HOUR_MS}`,
            id,
          ),
        );
    });
  }

  /** What one of them knows. */
  of(self: string): LiveServers {
    return { self, list: () => (this.#live.includes(self) ? this.#live : []) };
  }
}

/** @param reach the address by which the deliverers get to this one. */
async function start(reach = (address: string) => Promise.resolve(address)) {
  const address = await temporaryAddress();
  const reached = await reach(address);
  const db = await openForTest(address);
  const queue = await queueOn(db);
  const servers = new Servers(db);
  /** A deliverer of another server, with connections of its own. */
  const server = async (self: string, to: readonly string[], answer?: () => Promise<AttemptResult>) => {
    const own = await openForTest(reached);
    const world = deliverOn(own, to, {
      claims: createClaims(servers.of(self), NOTHING_TO_CONFIRM),
      ...(answer && { answer }),
    });
    return { own, ...world };
  };
  return { db, queue, servers, server };
}

async function rowsOf(queue: EngineQueue) {
  return queue.db.read(() => all(query.selectFrom("delivery").selectAll().orderBy("id")));
}

/** Rows of the outbox that a server has claimed whole. */
const claimedRowsOf = (db: Database) =>
  rowsInEngine(db, "SELECT number FROM outbox WHERE claimed_by IS NOT NULL");

async function deliveredIn(db: Database): Promise<number> {
  return (await rowsInEngine(db, "SELECT id FROM delivery WHERE state = 'delivered'")).length;
}

/** A database that makes one commit and does not say so: the first one after which `when` is true. */
function losingOneCommit(db: Database, when: () => Promise<boolean>) {
  let lost = false;
  const unheard: Database = {
    ...db,
    async relaxedTransaction(work) {
      const result = await db.relaxedTransaction(work);
      if (lost || !(await when())) return result;
      lost = true;
      throw new Error("the connection broke");
    },
  };
  return { unheard, isLost: () => lost };
}

describe.runIf(hasPostgresql)("deliverers of two servers", () => {
  test("share the recipients, and send each message once", async () => {
    const { queue, servers, server } = await start();
    const to = await queue.recipients(8);
    await servers.live("srv_1", "srv_2");
    await queue.post(20);
    await using one = await server("srv_1", to);
    await using two = await server("srv_2", to);
    await Promise.all([one.settle(), two.settle()]);
    expect(await queue.states()).toEqual({ delivered: 160 });
    for (const [self, { carried }] of [
      ["srv_1", one],
      ["srv_2", two],
    ] as const)
      for (const { to: id } of carried) expect(ownerOf(id, ["srv_1", "srv_2"])).toBe(self);
    const sent = [...one.carried, ...two.carried].map(({ id }) => id);
    expect(sent).toHaveLength(160);
    expect(new Set(sent).size).toBe(160);
  });

  test.skipIf(findPgbouncer() === null)(
    "behind PgBouncer send each message once too, and prepare no statement there",
    async () => {
      const { queue, servers, server } = await start(async (address) => {
        const pooler = await startPgbouncer(address);
        onTestFinished(() => pooler.stop());
        return pooler.address;
      });
      const to = await queue.recipients(6);
      await servers.live("srv_1", "srv_2");
      await queue.post(20);
      await spreadOutbox(queue.db, NOON);
      await queue.post(30);
      await queue.gatherInOneRow();
      await using one = await server("srv_1", to);
      await using two = await server("srv_2", to);
      await Promise.all([one.settle(), two.settle()]);
      expect(await queue.states()).toEqual({ delivered: 300 });
      const sent = [...one.carried, ...two.carried].map(({ id }) => id);
      expect(sent).toHaveLength(300);
      expect(new Set(sent).size).toBe(300);
      for (const { own } of [one, two])
        expect(await rowsInEngine(own, "SELECT name FROM pg_prepared_statements")).toEqual([]);
    },
  );

  test("what a server was sending when it was lost goes out again by the other, and its late results are refused", async () => {
    const { queue, servers, server } = await start();
    const to = await queue.recipients(6);
    await servers.live("srv_1", "srv_2");
    await queue.post(2);
    const answers: (() => void)[] = [];
    await using lost = await server(
      "srv_1",
      to,
      () => new Promise((resolve) => answers.push(() => resolve(ANSWERED))),
    );
    const own = to.filter((id) => ownerOf(id, ["srv_1", "srv_2"]) === "srv_1");
    const inFlight = Math.min(own.length * 2, 8);
    await expect.poll(() => answers.length).toBe(inFlight);
    await servers.live("srv_2");
    await using other = await server("srv_2", to);
    await other.settle();
    // Later, because the first process may have been ended by one of them.
    await other.settle(60_000);
    expect(await queue.states()).toEqual({ delivered: 12 });
    expect(other.carried).toHaveLength(12);
    const before = await rowsOf(queue);
    await servers.live("srv_1", "srv_2");
    for (const answer of answers) answer();
    await lost.settle();
    expect(await rowsOf(queue)).toEqual(before);
    const attempts = await queue.db.read(() => all(query.selectFrom("attempt").select("outcome")));
    const outcomes = attempts.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "interrupted")).toHaveLength(inFlight);
    expect(outcomes.filter((outcome) => outcome === "delivered")).toHaveLength(12);
  });

  test("a server that hears nothing of the others sends nothing until it does", async () => {
    const { queue, servers, server } = await start();
    const to = await queue.recipients(2);
    await queue.post(3);
    await using one = await server("srv_1", to);
    await one.settle();
    expect(one.carried).toEqual([]);
    await servers.live("srv_1");
    await expect.poll(() => queue.states()).toEqual({ delivered: 6 });
    expect(one.carried).toHaveLength(6);
  });

  test("a server that does not hear of the others any more begins nothing, and records what it began", async () => {
    const { queue, servers, server } = await start();
    const to = await queue.recipients(1);
    await servers.live("srv_1");
    await queue.post(20);
    const answers: (() => void)[] = [];
    const answer = () => new Promise<AttemptResult>((resolve) => answers.push(() => resolve(ANSWERED)));
    await using one = await server("srv_1", to, answer);
    await expect.poll(() => answers.length).toBe(IN_FLIGHT);
    await servers.live();
    for (const end of answers.splice(0)) end();
    await expect.poll(async () => (await queue.states()).delivered).toBe(IN_FLIGHT);
    expect(one.carried).toHaveLength(IN_FLIGHT);
    await servers.live("srv_1");
    await expect
      .poll(async () => {
        for (const end of answers.splice(0)) end();
        return queue.states();
      })
      .toEqual({ delivered: 20 });
    expect(one.carried).toHaveLength(20);
  });

  test("what another server has queued is found by a look, and the other way round it is told", async () => {
    const { queue, servers, server } = await start();
    const to = await queue.recipients(20);
    const both = ["srv_1", "srv_2"];
    await servers.live(...both);
    await using one = await server("srv_1", to);
    await one.settle();
    await queue.post(1);
    const own = to.filter((id) => ownerOf(id, both) === "srv_1");
    one.deliverer.look();
    await expect.poll(() => one.carried.map(({ to: id }) => id).toSorted()).toEqual(own.toSorted());
    let told = 0;
    one.deliverer.onQueuedForOthers(() => (told += 1));
    const elsewhere = new NewMessages();
    const known = {
      id: "wh_elsewhere",
      kind: "pigeon",
      max_spam_score: 100,
      endpoint_name: "Contact",
      conditions: null,
    };
    const post = { id: "sub_1", endpointId: queue.endpointId, spamScore: 0 };
    elsewhere.add({ ...post, ipAddress: "", userAgent: "", createdAt: 1 }, [known], 1);
    one.outbox.announce(elsewhere);
    await expect.poll(() => told).toBe(1);
  });

  test("a pulse shows that messages wait and who lives, and what it shows changes with them", async () => {
    const { db, queue, servers, server } = await start();
    const to = await queue.recipients(2);
    await servers.live("srv_1");
    const one = await server("srv_1", to);
    const heads = deliveryHeads(one.deliverer);
    const look = () =>
      Promise.all(
        heads.map(
          async ({ sql }) =>
            (await rowsInEngine<{ value: string | null }>(db, `SELECT (${sql})::text AS value`))[0]?.value,
        ),
      );
    expect(await look()).toEqual([null, "srv_1"]);
    await one.deliverer.stop(0);
    await queue.post(1);
    const [waiting] = await look();
    expect(waiting).not.toBeNull();
    expect((await look())[0]).not.toBe(waiting);
    await servers.live("srv_1", "srv_2");
    expect((await look())[1]).toBe("srv_1 srv_2");
  });

  test("a claim whose commit was not heard goes back, and each message is sent once", async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const servers = new Servers(db);
    await servers.live("srv_1");
    await queue.post(5);
    const { unheard, isLost } = losingOneCommit(db, async () => ((await queue.states()).sending ?? 0) > 0);
    await using one = deliverOn(unheard, [to], {
      claims: createClaims(servers.of("srv_1"), NOTHING_TO_CONFIRM),
    });
    await expect.poll(() => queue.states()).toEqual({ delivered: 5 });
    expect(isLost()).toBe(true);
    expect(new Set(one.carried.map(({ id }) => id)).size).toBe(5);
    expect(one.carried).toHaveLength(5);
    expect((await rowsOf(queue)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1]);
  });

  test("a result whose commit was not heard is recorded once", async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const servers = new Servers(db);
    await servers.live("srv_1");
    await queue.post(3);
    const { unheard, isLost } = losingOneCommit(db, async () => ((await queue.states()).delivered ?? 0) > 0);
    await using one = deliverOn(unheard, [to], {
      claims: createClaims(servers.of("srv_1"), NOTHING_TO_CONFIRM),
    });
    await expect.poll(() => queue.states()).toEqual({ delivered: 3 });
    await one.settle();
    expect(isLost()).toBe(true);
    expect(one.carried).toHaveLength(3);
    const attempts = await db.read(() => all(query.selectFrom("attempt").select("outcome")));
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["delivered", "delivered", "delivered"]);
  });

  test.each([
    ["claim", async (db: Database) => (await claimedRowsOf(db)).length > 0],
    ["record", async (db: Database) => (await deliveredIn(db)) >= 20],
  ])("of whole rows, a %s whose commit was not heard sends nothing twice", async (_, when) => {
    const db = await openForTest(await temporaryAddress());
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const servers = new Servers(db);
    await servers.live("srv_1");
    await queue.post(60);
    const { unheard, isLost } = losingOneCommit(db, () => when(db));
    await using one = deliverOn(unheard, [to], {
      claims: createClaims(servers.of("srv_1"), NOTHING_TO_CONFIRM),
    });
    await expect.poll(() => queue.states()).toEqual({ delivered: 60 });
    await one.settle();
    expect(isLost()).toBe(true);
    expect(new Set(one.carried.map(({ id }) => id)).size).toBe(60);
    expect(one.carried).toHaveLength(60);
    const attempts = await db.read(() => all(query.selectFrom("attempt").select("outcome")));
    expect(attempts.filter(({ outcome }) => outcome === "delivered")).toHaveLength(60);
    expect(attempts).toHaveLength(60);
    expect(await claimedRowsOf(db)).toEqual([]);
  });
});
