import { describe, expect, test } from "vitest";
import { query } from "../../../src/database/database.ts";
import { checkServer, type ServerFacts } from "../../../src/database/postgresql/check-server.ts";
import {
  COMMAND_OPTIONS,
  openPostgresql,
  type PostgresqlDatabase,
} from "../../../src/database/postgresql/open-postgresql.ts";
import { all, first, run, type Steps, text } from "../../../src/database/steps.ts";
import { rowsOf } from "../../support/engines.ts";
import { PATIENCE_MS } from "../../support/until.ts";
import { type FaultyLink, startLink } from "../../support/faulty-link.ts";
import {
  addressInCluster,
  administer,
  hasPostgresql,
  openForTest,
  temporaryAddress,
  temporaryPostgresql,
} from "../../support/temporary-postgresql.ts";

const SOUND: ServerFacts = {
  version: 150_018,
  fsync: "on",
  synchronous_commit: "on",
  encoding: "UTF8",
  is_standby: false,
  reads_only: "off",
};

const account = (id: string) =>
  query.insertInto("account").values({ id, email: `${id}@example.org`, created_at: 1 });
const accounts = query.selectFrom("account").select("id").orderBy("id");

test("a server that cannot keep what was acknowledged is refused in one sentence that says what to change", () => {
  const refusal = (facts: Partial<ServerFacts>): string => {
    try {
      checkServer({ ...SOUND, ...facts }, "db");
      return "none";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(refusal({})).toBe("none");
  expect(refusal({ synchronous_commit: "remote_apply" })).toBe("none");
  expect(refusal({ version: 130_022 })).toBe("db: PostgreSQL 13 is too old; formsvc needs 14 or newer");
  expect(refusal({ fsync: "off" })).toContain("fsync is off");
  expect(refusal({ encoding: "SQL_ASCII" })).toContain("the encoding SQL_ASCII");
  expect(refusal({ is_standby: true, fsync: "off" })).toContain("is a standby");
});

describe.skipIf(!hasPostgresql)("a database in a real server", () => {
  test.each([
    ["synchronous_commit = off", "synchronous_commit is off"],
    ["synchronous_commit = local", "synchronous_commit is local"],
    ["default_transaction_read_only = on", "default_transaction_read_only is on"],
  ])("with %s is refused", async (setting, message) => {
    const address = await temporaryAddress();
    await administer(`ALTER DATABASE ${/\/(test_\w+)\?/.exec(address)?.[1]} SET ${setting}`);
    await expect(openPostgresql(address)).rejects.toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining(message) as string,
    });
  });

  test("with an encoding that does not hold every text is refused", async () => {
    const address = await temporaryAddress("ENCODING 'LATIN1' TEMPLATE template0");
    await expect(openPostgresql(address)).rejects.toThrow("has the encoding LATIN1");
  });

  test("that cannot be reached says why, and never the password", async () => {
    const address = await addressInCluster("postgres");
    const wrong = [
      [address.replace(/:[^:@]*@/, ":hunter2@"), "does not let this user in"],
      [address.replace("/postgres?", "/nothing_here?"), "there is no such database"],
      [address.replace(/host=.*/, "host=/nowhere"), "there is no socket in this folder"],
      ["postgresql://a:hunter2@127.0.0.1:1/d", "nothing listens there"],
    ] as const;
    for (const [each, message] of wrong) {
      const refusal: unknown = await openPostgresql(each).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: "database_unusable" });
      expect(String(refusal)).toMatch(new RegExp(message));
      expect(String(refusal)).not.toContain("hunter2");
    }
  });
});

describe.skipIf(!hasPostgresql)("a transaction", () => {
  test("gives rows, one row and the number of changes, with whole numbers as numbers and bytes as bytes", async () => {
    const db = await temporaryPostgresql();
    expect(await db.transaction(() => run(account("acct_1")))).toBe(1);
    const sums = text<{ many: number; sum: number; bytes: Buffer }>(
      "SELECT count(*) AS many, sum(created_at) AS sum, '\\x00ff'::bytea AS bytes FROM account",
    );
    expect(await db.read(() => first(sums))).toEqual({ many: 1, sum: 1, bytes: Buffer.from([0, 255]) });
    expect(await db.read(() => first(accounts.where("id", "=", "none")))).toBeUndefined();
  });

  test("that throws leaves nothing behind, and the next one goes on", async () => {
    const db = await temporaryPostgresql();
    const halfWay = db.transaction(function* () {
      yield* run(account("acct_1"));
      throw new Error("half-way");
    });
    await expect(halfWay).rejects.toThrow("half-way");
    await expect(db.transaction(() => run(text("NONSENSE")))).rejects.toThrow("syntax error");
    expect(await db.read(() => all(accounts))).toEqual([]);
    await db.transaction(() => run(account("acct_1")));
    expect(await db.read(() => all(accounts))).toEqual([{ id: "acct_1" }]);
  });

  test("whose steps take an error for success is not taken for one", async () => {
    const db = await temporaryPostgresql();
    const hiding = db.transaction(function* () {
      yield* run(account("acct_1"));
      try {
        yield* run(text("NONSENSE"));
      } catch {
        // As if nothing had happened.
      }
    });
    await expect(hiding).rejects.toThrow("its error was not passed on");
    expect(await db.read(() => all(accounts))).toEqual([]);
  });

  test("that only reads sees one state throughout, and a write in it is a defect at once", async () => {
    const db = await temporaryPostgresql();
    const isolation = text<{ level: string }>("SELECT current_setting('transaction_isolation') AS level");
    expect(await db.read(() => first(isolation))).toEqual({ level: "repeatable read" });
    await expect(db.read(() => run(account("acct_1")))).rejects.toMatchObject({ code: "25006" });
  });

  test("is run again when another was in its way, so that what it read and then decided holds", async () => {
    const db = await openPostgresqlWith({ connections: 8, patienceMs: PATIENCE_MS });
    const LIMIT = 5;
    function* addUpTo(id: string): Steps<boolean> {
      if ((yield* all(accounts)).length >= LIMIT) return false;
      yield* run(account(id));
      return true;
    }
    const added = await Promise.all(
      Array.from({ length: 12 }, (_, index) => db.transaction(() => addUpTo(`acct_${index}`))),
    );
    expect(added.filter(Boolean)).toHaveLength(LIMIT);
    expect(await db.read(() => all(accounts))).toHaveLength(LIMIT);
  });

  test("that others are always in the way of ends with database_busy", async () => {
    const db = await openPostgresqlWith({ ...COMMAND_OPTIONS, patienceMs: 30 });
    let tries = 0;
    const always = db.transaction(function* () {
      tries += 1;
      yield* run(text("DO $$ BEGIN RAISE EXCEPTION 'always' USING ERRCODE = '40001'; END $$"));
    });
    await expect(always).rejects.toMatchObject({ code: "database_busy", facts: { retryAfterSeconds: 1 } });
    expect(tries).toBeGreaterThan(0);
  });

  test("that need not wait for the disk says so to the server, for itself alone", async () => {
    const db = await temporaryPostgresql();
    const setting = text<{ value: string }>("SELECT current_setting('synchronous_commit') AS value");
    expect(await db.relaxedTransaction(() => first(setting))).toEqual({ value: "off" });
    expect(await db.transaction(() => first(setting))).toEqual({ value: "on" });
  });

  test("whose connection breaks before the commit is not made, and the next one has a new connection", async () => {
    const { db, link } = await throughLink();
    link.cutAnswerTo("acct_lost");
    await expect(db.transaction(() => run(account("acct_lost")))).rejects.toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining("the connection broke") as string,
    });
    expect(await db.read(() => all(accounts))).toEqual([]);
  });

  test("whose commit was made and never heard of is an error that says to look", async () => {
    const { db, link } = await throughLink();
    link.cutAnswerTo("COMMIT");
    await expect(db.transaction(() => run(account("acct_made")))).rejects.toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining("look whether it was made before you try again") as string,
    });
    expect(await db.read(() => all(accounts))).toEqual([{ id: "acct_made" }]);
  });
});

async function openPostgresqlWith(options: typeof COMMAND_OPTIONS) {
  return openForTest(await temporaryAddress(), options);
}

async function throughLink(): Promise<{ db: PostgresqlDatabase; link: FaultyLink }> {
  const link = await startLink(await temporaryAddress());
  return { db: await openForTest(link.address), link };
}

test.skipIf(!hasPostgresql)(
  "a read that a server waits for no longer is ended by PostgreSQL too",
  async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address, { connections: 2, patienceMs: 1000, answerTimeoutMs: 1000 });
    const asleep =
      "SELECT 1 AS one FROM pg_stat_activity WHERE query LIKE '%pg_sleep(55)%' AND state = 'active' AND pid <> pg_backend_pid()";
    const read = db.read(() => first(text("SELECT pg_sleep(55)")));
    await expect(read).rejects.toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining("ended a statement that took too long") as string,
    });
    expect(await rowsOf(db, asleep)).toEqual([]);
  },
);
