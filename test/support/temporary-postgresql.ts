import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { inject, onTestFinished } from "vitest";
import { COPIED_TABLES } from "../../src/database/copy-tables.ts";
import type { Database } from "../../src/database/database.ts";
import {
  openPostgresql,
  type PostgresqlDatabase,
  type PostgresqlOptions,
} from "../../src/database/postgresql/open-postgresql.ts";
import { first, text as statement } from "../../src/database/steps.ts";
import { connectPlainly } from "./postgresql-cluster.ts";
import { TEMPLATE } from "./one-cluster.ts";
import { until } from "./until.ts";

/** Whether PostgreSQL is installed, so that its tests run. */
export const hasPostgresql = inject("clusterPort") !== null;

let asked: Promise<string> | undefined;

/** The address of a database of the shared cluster. */
export async function addressInCluster(database: string): Promise<string> {
  asked ??= askForCluster();
  return (await asked).replace(/\/postgres\?/, `/${database}?`);
}

async function askForCluster(): Promise<string> {
  const answer = await text(connect(inject("clusterPort") ?? 0, "127.0.0.1"));
  if (answer.startsWith("error:")) throw new Error(answer);
  return answer;
}

/** Runs one statement in the cluster's own database. */
export async function administer(sql: string): Promise<void> {
  const admin = await connectPlainly(await addressInCluster("postgres"));
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}

/** The address of a database that is dropped after the test. @param from what it is made of: after `CREATE DATABASE name`. */
export async function temporaryAddress(from: string = `TEMPLATE ${TEMPLATE}`): Promise<string> {
  const { name, address } = await makeDatabase(from);
  onTestFinished(() => administer(`DROP DATABASE ${name} WITH (FORCE)`));
  return address;
}

/** The address of a database for all tests of a file, brought up to date. It goes with the cluster. */
export async function addressForFile(): Promise<string> {
  return (await makeDatabase(`TEMPLATE ${TEMPLATE}`)).address;
}

async function makeDatabase(from: string): Promise<{ readonly name: string; readonly address: string }> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await administer(`CREATE DATABASE ${name} ${from}`);
  return { name, address: await addressInCluster(name) };
}

/** Databases that no test of this process uses now; each is empty. They go with the cluster. */
const free: PostgresqlDatabase[] = [];

/**
 * An empty database that is brought up to date, for a test that leaves its tables as they are. It may have served tests before, because
 * PostgreSQL reads its catalogue anew and plans each statement anew for a new connection, which is half of its processor time.
 */
export async function temporaryPostgresql(): Promise<PostgresqlDatabase> {
  const kept = free.pop() ?? (await openPostgresql((await makeDatabase(`TEMPLATE ${TEMPLATE}`)).address));
  let isClosed = false;
  onTestFinished(async () => {
    if (isClosed) return;
    kept.guardCommits(() => undefined);
    await empty(kept);
    free.push(kept);
  });
  return { ...kept, close: () => ((isClosed = true), kept.close()) };
}

const TABLES = ["live_server", "rate_window", ...[...COPIED_TABLES].toReversed()];

const EMPTY_SQL = [
  ...TABLES.map((table) => `DELETE FROM ${table}`),
  "INSERT INTO settings_version (id, version) VALUES (1, 1)",
  "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'",
].join("; ");

/** Takes some milliseconds; to make a database takes a hundred and more. */
async function empty(db: PostgresqlDatabase): Promise<void> {
  await db.withConnection((client) => client.query(EMPTY_SQL));
}

/** Further connections, as another process would have; closed after the test. */
export async function openForTest(address: string, options?: PostgresqlOptions): Promise<PostgresqlDatabase> {
  const db = await openPostgresql(address, options);
  onTestFinished(() => db.close());
  return db;
}

const INCOMPLETE_SQL = `SELECT 1 FROM
  (SELECT stored_by FROM submission UNION ALL SELECT stored_by FROM audit_event) AS stored
  WHERE stored_by >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1`;

/**
 * Waits until `tail` and the events give all that is stored. On PostgreSQL any transaction of the cluster that began earlier and still writes holds it
 * up, and other test files write on the same cluster.
 */
export async function untilTailed(db: Database): Promise<void> {
  if (db.engine === "sqlite") return;
  await until(async () => (await db.read(() => first(statement(INCOMPLETE_SQL)))) === undefined);
}
