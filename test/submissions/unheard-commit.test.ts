import type { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import type { BatchStatement } from "../../src/database/postgresql/batch-connection.ts";
import { migratePostgresql } from "../../src/database/postgresql/migrate-postgresql.ts";
import type { PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import { WRITE_MARK_SQL } from "../../src/database/postgresql/write-mark.ts";
import { addPlace, batchServer, outcomesOf, type Place } from "../support/batch-world.ts";
import { startPair } from "../support/cluster-pair.ts";
import { rowsOf } from "../support/engines.ts";
import { startLink } from "../support/faulty-link.ts";
import { findPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { administrator, ownCluster } from "../support/own-cluster.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { PATIENCE_MS, until } from "../support/until.ts";

/** As long as a test waits for anything: a busy machine refuses no post. */
const PATIENT = { connections: 2, patienceMs: PATIENCE_MS };
/** A batch that is given up after this time has sent its commit, on a busy machine too. */
const ENOUGH_MS = 3000;
/** As it goes over the network in both directions: the level of a transaction has the word in it too. */
const COMMIT = "COMMIT\0";

async function countOf(db: Database, table: string): Promise<number> {
  return (await rowsOf<{ rows: number }>(db, `SELECT count(*) AS rows FROM ${table}`))[0]?.rows ?? 0;
}

/** What is stored, and what is counted, of the one workspace. */
async function storedIn(db: Database): Promise<readonly number[]> {
  const [usage] = await rowsOf<{ used: number }>(db, "SELECT used FROM usage");
  return [await countOf(db, "submission"), usage?.used ?? 0];
}

/** A database behind a link, and a connection of its own to it. */
async function throughLink() {
  const address = await temporaryAddress();
  const direct = await openForTest(address);
  const link = await startLink(address);
  const place = await addPlace(direct);
  await place.recipient(100);
  return { direct, link, place, db: await openForTest(link.address, PATIENT) };
}

/** A primary that waits for a standby that is not there. Resolves with what lets it go on. */
async function withoutStandby(patienceMs = PATIENCE_MS) {
  const cluster = await ownCluster({});
  const admin = await administrator(cluster);
  const direct = await openForTest(cluster.address("postgres"));
  await migratePostgresql(direct);
  const place = await addPlace(direct);
  const standby = async (name: string): Promise<void> => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await admin.query("SELECT pg_reload_conf()");
  };
  const db = await openForTest(cluster.address("postgres"), { connections: 2, patienceMs });
  await outcomesOf(batchServer(db), [place.pending()]);
  await standby("nobody");
  const writer = await administrator(cluster);
  await until(() => doesCommitWait(admin, writer));
  return { admin, direct, place, db, goOn: () => standby("") };
}

const WAITING_SQL = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

async function findWaiting(admin: Client, notPid = 0): Promise<number | undefined> {
  const { rows } = await admin.query<{ pid: number }>(`${WAITING_SQL} AND pid <> ${notPid}`);
  return rows[0]?.pid;
}

async function waitingCommit(admin: Client, notPid = 0): Promise<number> {
  return await until(() => findWaiting(admin, notPid));
}

/**
 * Whether a commit waits for the standby. Each process of PostgreSQL reads a changed setting in its own time, and one of them decides for all
 * whether commits wait, so the setting itself does not tell.
 */
async function doesCommitWait(admin: Client, writer: Client): Promise<boolean> {
  let isCommitted = false;
  const commit = writer.query(WRITE_MARK_SQL).finally(() => {
    isCommitted = true;
  });
  const pid = await until(async () => isCommitted || (await findWaiting(admin)));
  if (pid !== true) await admin.query(`SELECT pg_cancel_backend(${pid})`);
  await commit;
  return pid !== true;
}

/** Adds posts one after the other until it is told to stop. Resolves to the ids that were acknowledged. */
function postOn(db: PostgresqlDatabase, place: Place) {
  const { queue } = batchServer(db);
  const acknowledged: string[] = [];
  const end = new AbortController();
  const one = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const pending = place.pending();
      if ((await queue.add(pending)) === "stored") acknowledged.push(pending.submission.id);
    }
  };
  const senders = Promise.all(Array.from({ length: 8 }, one));
  return {
    acknowledged,
    async stop(): Promise<void> {
      end.abort();
      await senders;
    },
  };
}

/** The acknowledged ones that are not stored. */
async function missingIn(db: Database, acknowledged: readonly string[]): Promise<string[]> {
  const stored = new Set((await rowsOf<{ id: string }>(db, "SELECT id FROM submission")).map(({ id }) => id));
  return acknowledged.filter((id) => !stored.has(id));
}

describe.skipIf(!hasPostgresql)("a batch whose commit nobody heard", () => {
  test("is stored and counted once if it was committed", async () => {
    const { direct, link, place, db } = await throughLink();
    link.cutAnswerTo(COMMIT, COMMIT);
    const posts = [place.pending(), place.pending({ idempotent: place.idempotent("key") }), place.held()];
    expect(await outcomesOf(batchServer(db), posts)).toEqual(["stored", "stored", "stored"]);
    expect(await storedIn(direct)).toEqual([2, 2]);
    const [outbox] = await rowsOf(direct, "SELECT sum(message_count) AS messages FROM outbox");
    expect([outbox, await countOf(direct, "held"), await countOf(direct, "idempotency")]).toEqual([
      { messages: 2 },
      1,
      1,
    ]);
  });

  test("tells the share of the limit that it reached, if it was committed", async () => {
    const { link, place, db } = await throughLink();
    const { write } = batchServer(db);
    const four = Array.from({ length: 4 }, () => place.pending({ monthlyLimit: 5 }));
    link.cutAnswerTo(COMMIT, COMMIT);
    expect((await write(four)).marks).toMatchObject([{ percent: 80, used: 4, limit: 5 }]);
    expect((await write([place.pending({ monthlyLimit: 5 })])).marks).toMatchObject([{ percent: 100 }]);
  });

  test("tells it with the next batch, if it was given up", async () => {
    const { direct, place, db, goOn } = await withoutStandby(ENOUGH_MS);
    const { write } = batchServer(db);
    const full = place.pending({ monthlyLimit: 2 });
    await expect(write([full])).rejects.toMatchObject({ code: "database_unusable" });
    await goOn();
    await until(async () => (await countOf(direct, "submission")) === 2);
    // A busy machine may need longer than that.
    const next = () => write([place.pending({ monthlyLimit: 2 })]);
    const { outcomes, marks } = await until(() => Promise.resolve(next()).catch(() => null));
    expect(outcomes).toEqual(["over_limit"]);
    expect(marks).toMatchObject([
      { percent: 80, used: 2 },
      { percent: 100, used: 2 },
    ]);
  });

  test("is stored once if the commit never arrived, and others wait for its locks for seconds only", async () => {
    const { direct, link, place, db } = await throughLink();
    const silent = link.silenceAt(COMMIT);
    const lost = outcomesOf(batchServer(db), [place.pending()]);
    await silent;
    // The silent server's transaction is ended by the database, long before the network would notice.
    const other = outcomesOf(batchServer(direct), [place.pending()]);
    expect([await lost, await other]).toEqual([["stored"], ["stored"]]);
    expect(await storedIn(direct)).toEqual([2, 2]);
  });

  test("is stored over another connection if the first one falls silent before it is used", async () => {
    const { direct, link, place, db } = await throughLink();
    const silent = link.silenceAt("tcp_user_timeout");
    const written = outcomesOf(batchServer(db), [place.pending()]);
    await silent;
    expect(await written).toEqual(["stored"]);
    expect(await storedIn(direct)).toEqual([1, 1]);
  });

  test("is not acknowledged when the wait for the standby was cancelled; the next attempt waits again", async () => {
    const { admin, direct, place, db, goOn } = await withoutStandby();
    let answer: unknown;
    const written = outcomesOf(batchServer(db), [place.pending()]).then((outcomes) => (answer = outcomes));
    const first = await waitingCommit(admin);
    await admin.query(`SELECT pg_cancel_backend(${first})`);
    await Promise.race([waitingCommit(admin, first), written]);
    expect(answer).toBeUndefined();
    await goOn();
    expect(await written).toEqual(["stored"]);
    expect(await storedIn(direct)).toEqual([2, 2]);
  });

  test("is refused when it takes too long, and its key finds it once it is there", async () => {
    const { direct, place, db, goOn } = await withoutStandby(ENOUGH_MS);
    const idempotent = place.idempotent("key");
    const post = place.pending({ idempotent });
    await expect(batchServer(db).write([post])).rejects.toMatchObject({ code: "database_unusable" });
    await goOn();
    await until(async () => (await countOf(direct, "submission")) === 2);
    const again = place.pending({ idempotent });
    expect(await outcomesOf(batchServer(direct), [again])).toEqual([{ firstId: post.submission.id }]);
    expect(await storedIn(direct)).toEqual([2, 2]);
  });

  test("is stored once when PostgreSQL is killed under load and comes back", async () => {
    const cluster = await ownCluster({});
    const address = cluster.address("postgres");
    await migratePostgresql(await openForTest(address));
    const db = await openForTest(address, PATIENT);
    const place = await addPlace(db);
    const posting = postOn(db, place);
    for (let round = 1; round <= 2; round += 1) {
      const before = posting.acknowledged.length;
      await until(() => posting.acknowledged.length > before + 50);
      await cluster.kill();
      await cluster.restart();
    }
    await posting.stop();
    const { acknowledged } = posting;
    expect(await missingIn(db, acknowledged)).toEqual([]);
    expect(await storedIn(db)).toEqual([acknowledged.length, acknowledged.length]);
  });

  test("is there on the standby that takes over", async () => {
    const pair = await startPair();
    onTestFinished(() => pair.stop());
    await migratePostgresql(await openForTest(pair.address()));
    const db = await openForTest(pair.address(), PATIENT);
    const place = await addPlace(db);
    const posting = postOn(db, place);
    await until(() => posting.acknowledged.length > 50);
    await pair.primary.kill();
    await pair.promote();
    const before = posting.acknowledged.length;
    await until(() => posting.acknowledged.length > before + 50);
    await posting.stop();
    const { acknowledged } = posting;
    const promoted = await openForTest(pair.standby.address("postgres"));
    expect(await missingIn(promoted, acknowledged)).toEqual([]);
    expect(await storedIn(promoted)).toEqual([acknowledged.length, acknowledged.length]);
  });
});

/** A database whose owner ends statements early and hides warnings. */
async function impatientAddress(): Promise<string> {
  const address = await temporaryAddress();
  const admin = await connectPlainly(address);
  for (const setting of [
    "statement_timeout = 600000",
    "lock_timeout = 600000",
    "client_min_messages = error",
  ])
    await admin.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting}', current_database()); END $$`,
    );
  await admin.end();
  return address;
}

const SETTINGS: BatchStatement = {
  name: "settings",
  text: `SELECT array_agg(current_setting(name) ORDER BY name) AS values FROM unnest(ARRAY['statement_timeout',
    'lock_timeout', 'client_min_messages', 'idle_in_transaction_session_timeout']) AS name`,
};

async function settingsOf(db: PostgresqlDatabase): Promise<readonly string[] | undefined> {
  const [row] = await db.batches.transaction(async (transaction) => {
    const rows = await transaction.query<{ values: string[] }>(SETTINGS);
    await transaction.commit();
    return rows;
  });
  return row?.values;
}

/** Warnings are heard, a silent server is ended after three seconds, and nothing else is ended early. */
const WANTED_SETTINGS = ["warning", "3s", "0", "0"];

test.skipIf(!hasPostgresql)(
  "no statement or commit of a batch is ended early, whatever the database's settings",
  async () => {
    expect(await settingsOf(await openForTest(await impatientAddress()))).toEqual(WANTED_SETTINGS);
  },
);

test.skipIf(findPgbouncer() === null || !hasPostgresql)(
  "behind a pooler, batches are stored under the same settings",
  async () => {
    const address = await impatientAddress();
    const place = await addPlace(await openForTest(address));
    const pooler = await startPgbouncer(address);
    onTestFinished(() => pooler.stop());
    const dbs = [await openForTest(pooler.address), await openForTest(pooler.address)] as const;
    const posted = dbs.map(async (db) => {
      const server = batchServer(db);
      for (let post = 0; post < 20; post += 1)
        expect(await outcomesOf(server, [place.pending()])).toEqual(["stored"]);
    });
    await Promise.all(posted);
    expect(await settingsOf(dbs[0])).toEqual(WANTED_SETTINGS);
  },
);
