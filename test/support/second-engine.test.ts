import type { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startPair } from "./cluster-pair.ts";
import { startLink } from "./faulty-link.ts";
import { findPgbouncer, startPgbouncer } from "./pgbouncer.ts";
import { connectPlainly } from "./postgresql-cluster.ts";
import { hasPostgresql, temporaryAddress } from "./temporary-postgresql.ts";

async function connectForTest(address: string) {
  const client = await connectPlainly(address);
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

const answer = { rows: [{ one: 1 }] };

describe.skipIf(!hasPostgresql)("the second engine of these tests", () => {
  test("keeps its data when it is killed, and has a standby with every commit, which can be promoted", async () => {
    const pair = await startPair();
    onTestFinished(() => pair.stop());
    const first = await connectForTest(pair.primary.address("postgres"));
    await first.query("CREATE TABLE kept AS SELECT 1 AS one");
    await pair.primary.kill();
    await expect(first.query("SELECT 1 AS one")).rejects.toBeInstanceOf(Error);
    await pair.primary.restart();
    const again = await connectForTest(pair.primary.address("postgres"));
    expect(await again.query("SELECT one FROM kept")).toMatchObject(answer);
    await again.query("CREATE TABLE written AS SELECT 1 AS one");
    await pair.primary.kill();
    await pair.promote();
    const promoted = await connectForTest(pair.standby.address("postgres"));
    expect(await promoted.query("SELECT one FROM kept JOIN written USING (one)")).toMatchObject(answer);
    await promoted.query("DROP TABLE kept");
  });

  test("can be behind a link that is silent for a time, and passes everything afterwards", async () => {
    const link = await startLink(await temporaryAddress());
    const client = await connectForTest(link.address);
    link.silence();
    let isAnswered = false;
    const asked = client.query("SELECT 1 AS one").then((result) => {
      isAnswered = true;
      return result;
    });
    // Meanwhile another link to the same server answers.
    const other = await connectForTest((await startLink(await temporaryAddress())).address);
    expect(await other.query("SELECT 1 AS one")).toMatchObject(answer);
    expect(isAnswered).toBe(false);
    link.resume();
    expect(await asked).toMatchObject(answer);
  });

  test("can be behind a link on which one connection falls silent in the middle of a transaction", async () => {
    const address = await temporaryAddress();
    const link = await startLink(address);
    const client = await connectForTest(link.address);
    await client.query("BEGIN; CREATE TABLE locked (one int)");
    const silent = link.silenceAt("COMMIT");
    void client.query("COMMIT").catch(() => undefined);
    await silent;
    // The transaction of the silent connection stays open in the server, and other connections still work.
    const other = await connectForTest(link.address);
    const open =
      "SELECT 1 AS one FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()";
    expect(await other.query(open)).toMatchObject(answer);
    link.cut();
  });

  test("can be behind a link that delays, and one that cuts", async () => {
    const link = await startLink(await temporaryAddress());
    const client = await connectForTest(link.address);
    link.delay(30);
    const startedAt = performance.now();
    expect(await client.query("SELECT 1 AS one")).toMatchObject(answer);
    expect(performance.now() - startedAt).toBeGreaterThan(50);
    link.cut();
    await expect(client.query("SELECT 1 AS one")).rejects.toBeInstanceOf(Error);
    expect(await (await connectForTest(link.address)).query("SELECT 1 AS one")).toMatchObject(answer);
  });

  test.skipIf(findPgbouncer() === null)(
    "can be behind PgBouncer, which lends a connection for one transaction",
    async () => {
      const pooler = await startPgbouncer(await temporaryAddress());
      onTestFinished(() => pooler.stop());
      const clients = [await connectForTest(pooler.address), await connectForTest(pooler.address)];
      const backend = async (client: Client) =>
        (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
      const [one, other] = [await backend(clients[0]!), await backend(clients[1]!)];
      expect(one).toBeGreaterThan(0);
      expect(other).toBe(one);
    },
  );
});
