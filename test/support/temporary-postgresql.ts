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

/** Whether PostgreSQL is installed, so that its tests can run. */
export const hasPostgresql = inject("clusterPort") !== null;

let asked: Promise<string> | undefined;

/** Returns the address of a database in the shared cluster. */
export async function addressInCluster(database: string): Promise<string> {
  asked ??= askForCluster();
  return (await asked).replace(/\/postgres\?/, `/${database}?`);
}

async function askForCluster(): Promise<string> {
  const answer = await text(connect(inject("clusterPort") ?? 0, "127.0.0.1"));
  if (answer.startsWith("error:")) throw new Error(answer);
  return answer;
}

/** Runs one statement in the cluster's database `postgres`. */
export async function administer(sql: string): Promise<void> {
  const admin = await connectPlainly(await addressInCluster("postgres"));
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}

/** Makes a database and returns its address. The database is dropped after the test. @param from the words after `CREATE DATABASE name` */
export async function temporaryAddress(from: string = `TEMPLATE ${TEMPLATE}`): Promise<string> {
  const { name, address } = await makeDatabase(from);
  onTestFinished(() => administer(`DROP DATABASE ${name} WITH (FORCE)`));
  return address;
}

/** Makes a migrated database for all tests of a file and returns its address. It is removed with the cluster. */
export async function addressForFile(): Promise<string> {
  return (await makeDatabase(`TEMPLATE ${TEMPLATE}`)).address;
}

async function makeDatabase(from: string): Promise<{ readonly name: string; readonly address: string }> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await administer(`CREATE DATABASE ${name} ${from}`);
  return { name, address: await addressInCluster(name) };
}

/** Empty databases that no test of this process uses now. They are removed with the cluster. */
const free: PostgresqlDatabase[] = [];

/**
 * Opens an empty, migrated database, for a test that does not change its tables. Earlier tests may have used it: for a new connection
 * PostgreSQL reads its catalogue and plans each statement again, which is half of its processor time.
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

/** Empties all tables. This takes some milliseconds; making a database takes more than a hundred. */
async function empty(db: PostgresqlDatabase): Promise<void> {
  await db.withConnection((client) => client.query(EMPTY_SQL));
}

/** Opens more connections, like another process. They are closed after the test. */
export async function openForTest(address: string, options?: PostgresqlOptions): Promise<PostgresqlDatabase> {
  const db = await openPostgresql(address, options);
  onTestFinished(() => db.close());
  return db;
}

const INCOMPLETE_SQL = `SELECT 1 FROM
  (SELECT stored_by FROM submission UNION ALL SELECT stored_by FROM audit_event) AS stored
  WHERE stored_by >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1`;

/**
 * Waits until `tail` and the event streams return everything that is stored. On PostgreSQL they wait for every earlier transaction of the
 * cluster that still writes, and other test files write on the same cluster.
 */
export async function untilTailed(db: Database): Promise<void> {
  if (db.engine === "sqlite") return;
  await until(async () => (await db.read(() => first(statement(INCOMPLETE_SQL)))) === undefined);
}
