import { expect, onTestFinished, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { findPostgresql, startCluster } from "../support/postgresql-cluster.ts";

test.skipIf(findPostgresql() === null)(
  "the built program works on a PostgreSQL database, and copies it into a file that it opens",
  async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.stop());
    const machine = emptyMachine();
    const env = { FORMSVC_DATABASE_URL: cluster.address("postgres") };
    await machine.mustRun(["init", "--email", "ada@example.org"], { env });
    await machine.mustRun(["copy", "--to", "copy.db"], { env });
    const { data } = await machine.json<{ data: object[] }>(["account", "list", "--db", "copy.db"]);
    expect(data).toMatchObject([{ email: "ada@example.org" }]);
  },
);
