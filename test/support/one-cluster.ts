import { type AddressInfo, createServer, type Server } from "node:net";
import { once } from "node:events";
import type { TestProject } from "vitest/node";
import { migratePostgresql } from "../../src/database/postgresql/migrate-postgresql.ts";
import { openPostgresql } from "../../src/database/postgresql/open-postgresql.ts";
import { findPgbouncer } from "./pgbouncer.ts";
import { type Cluster, connectPlainly, findPostgresql, startCluster } from "./postgresql-cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The port of {@link answerWithCluster}; null if PostgreSQL is not installed. */
    clusterPort: number | null;
  }
}

/** The migrated database from which the tests' own databases are copied. */
export const TEMPLATE = "formsvc_template";

/**
 * Lets all test files share one cluster. The cluster is made when the first test file asks for it, so that a run without such a file does
 * not pay for it. It is removed at the end.
 */
export default async function shareCluster(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (findPgbouncer() === null) sayMissing("PgBouncer");
  if (findPostgresql() === null) {
    sayMissing("PostgreSQL");
    project.provide("clusterPort", null);
    return undefined;
  }
  let starting: Promise<Cluster> | undefined;
  const server = answerWithCluster(() => (starting ??= startWithTemplate()));
  await once(server, "listening");
  project.provide("clusterPort", (server.address() as AddressInfo).port);
  return async () => {
    server.close();
    const started = await starting?.catch(() => undefined);
    await started?.stop();
  };
}

/** Says that a program is missing. @throws if the list in `TESTS_REQUIRE`, separated by spaces, names the program */
function sayMissing(program: string): void {
  const required = (process.env["TESTS_REQUIRE"] ?? "").split(" ");
  if (required.includes(program.toLowerCase()))
    throw new Error(`${program} is not installed, and these tests must not be left out here`);
  process.stderr.write(`SKIPPED: ${program} is not installed; what needs it is not tested.\n`);
}

/** Starts a TCP server that tells every client the address of the database `postgres` in the cluster, once the cluster runs. */
function answerWithCluster(cluster: () => Promise<Cluster>): Server {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    cluster().then(
      (started) => socket.end(started.address("postgres")),
      (error: unknown) => socket.end(`error: ${String(error)}`),
    );
  });
  return server.listen(0, "127.0.0.1");
}

async function startWithTemplate(): Promise<Cluster> {
  // The write-ahead log is limited, because the cluster may be in memory.
  const cluster = await startCluster({ settings: ["max_wal_size=256MB"] });
  const admin = await connectPlainly(cluster.address("postgres"));
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const db = await openPostgresql(cluster.address(TEMPLATE));
  await migratePostgresql(db);
  await db.close();
  return cluster;
}
