import { describe, expect, test } from "vitest";
import type { LiveServers } from "../../../src/database/live-servers.ts";
import type { PostgresqlDatabase } from "../../../src/database/postgresql/open-postgresql.ts";
import { createRateExchange } from "../../../src/database/postgresql/rate-exchange.ts";
import { createJointRateLimiter } from "../../../src/foundation/joint-rate-limit.ts";
import { rowsOf, write } from "../../support/engines.ts";
import { hasPostgresql, temporaryPostgresql } from "../../support/temporary-postgresql.ts";

const TWO: LiveServers = { self: "a", list: () => ["a", "b"] };
const limit = { max: 1000, windowSeconds: 60 };

function startServer(db: PostgresqlDatabase, servers = TWO) {
  const limiter = createJointRateLimiter();
  const rates = createRateExchange(db, limiter, servers);
  /** How many of the requests were allowed. */
  const take = (requests: number, unit = "key 1"): number =>
    Array.from({ length: requests }, () => limiter.count(unit, limit)).filter((state) => state?.allowed)
      .length;
  const left = (unit = "key 1"): number | undefined => limiter.look(unit, limit)?.remaining;
  return { exchange: () => rates.exchange(), dropEnded: () => rates.dropEnded(), take, left };
}

describe.skipIf(!hasPostgresql)("rate limits of several servers", () => {
  test("are one limit, whichever server counts, also for one that starts later", async () => {
    const db = await temporaryPostgresql();
    const [one, other] = [startServer(db), startServer(db)];
    expect([one.take(700), other.take(200)]).toEqual([700, 200]);
    for (const { exchange } of [one, other, one]) await exchange();
    expect([one.left(), other.left()]).toEqual([100, 100]);
    expect(other.take(200)).toBe(100);
    await other.exchange();
    await one.exchange();
    const later = startServer(db);
    await later.exchange();
    expect([one.take(5), other.take(5), later.take(5)]).toEqual([0, 0, 0]);
  });

  test("lose no count when many servers tell of the same units at once", async () => {
    const db = await temporaryPostgresql();
    const servers = Array.from({ length: 4 }, () => startServer(db));
    const units = Array.from({ length: 50 }, (_, index) => `key ${index}`);
    let taken = 0;
    for (let round = 0; round < 5; round += 1) {
      for (const [index, { take }] of servers.entries())
        for (const unit of index % 2 === 0 ? units : units.toReversed())
          taken += take(round === 0 ? 240 + 20 * index : 10, unit);
      await Promise.all(servers.map(({ exchange }) => exchange()));
    }
    // Some were past a quarter of their own; the others tell because those have told.
    for (const { exchange } of servers) await exchange();
    expect(await rowsOf(db, "SELECT sum(used) AS used FROM rate_window")).toEqual([{ used: taken }]);
    expect(taken).toBeGreaterThanOrEqual(units.length * limit.max);
  });

  test("begin anew when their window has ended, and the ended ones are deleted", async () => {
    const db = await temporaryPostgresql();
    const [one, other] = [startServer(db), startServer(db)];
    one.take(800);
    one.take(300, "key 2");
    await one.exchange();
    await write(db, "UPDATE rate_window SET ends_at = 1 WHERE unit = 'key 1'");
    other.take(400);
    await other.exchange();
    expect(other.left()).toBe(600);
    await write(db, "UPDATE rate_window SET ends_at = 1 WHERE unit = 'key 1'");
    expect([await one.dropEnded(), await one.dropEnded()]).toEqual([1, 0]);
    expect(await rowsOf(db, "SELECT unit, used FROM rate_window")).toEqual([{ unit: "key 2", used: 300 }]);
  });

  test("cost a server that is alone no statement, and one that could not tell no count", async () => {
    const db = await temporaryPostgresql();
    const alone = startServer(db, { self: "a", list: () => ["a"] });
    alone.take(900);
    await alone.exchange();
    expect(await rowsOf(db, "SELECT unit FROM rate_window")).toEqual([]);
    const one = startServer(db);
    one.take(500);
    await write(db, "ALTER TABLE rate_window RENAME TO elsewhere");
    await expect(one.exchange()).rejects.toThrow("a table is missing");
    await write(db, "ALTER TABLE elsewhere RENAME TO rate_window");
    await one.exchange();
    expect(await rowsOf(db, "SELECT used FROM rate_window")).toEqual([{ used: 500 }]);
  });
});
