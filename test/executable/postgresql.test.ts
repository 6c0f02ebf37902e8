import { expect, onTestFinished, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { findPostgresql, startCluster } from "../support/postgresql-cluster.ts";
import { post, storedIds } from "../support/posts.ts";

test.skipIf(findPostgresql() === null)(
  "the built program serves a PostgreSQL database, and what it copies or backs up into a file it opens and serves",
  async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.stop());
    const machine = emptyMachine();
    machine.configure({ database: { url: cluster.address("postgres") } });
    const server = await machine.serve();
    await machine.mustRun(["account", "create", "ada@example.org"]);
    const { secret } = await machine.createEndpoint();
    const id = await post(server.url, secret);
    expect(await server.stop()).toBe(0);
    await machine.mustRun(["copy", "--to", "copy.db"]);
    const accounts = await machine.json<{ data: object[] }>(["account", "list", "--db", "copy.db"]);
    expect(accounts.data).toMatchObject([{ email: "ada@example.org" }]);
    const stored = await machine.json<{ data: object[] }>(["submission", "list", "--db", "copy.db"]);
    expect(stored.data).toMatchObject([{ id }]);
    await machine.mustRun(["backup", "backup.db"]);
    const again = await machine.serve({ args: ["--db", "backup.db"] });
    const next = await post(again.url, secret);
    expect(await again.stop()).toBe(0);
    expect(storedIds(machine.path("backup.db"))).toEqual(new Set([id, next]));
  },
);
