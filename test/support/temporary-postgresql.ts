import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { inject, onTestFinished } from "vitest";
import {
  openPostgresql,
  type PostgresqlDatabase,
  type PostgresqlOptions,
} from "../../src/database/postgresql/open-postgresql.ts";
import { connectPlainly } from "./postgresql-cluster.ts";
import { TEMPLATE } from "./one-cluster.ts";

/** Whether PostgreSQL is installed, so that its tests run. */
export const hasPostgresql = inject("clusterPort") !== null;

let asked: Promise<string> | undefined;
let made = 0;

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
  made += 1;
  const name = `test_${process.pid}_${made}`;
  await administer(`CREATE DATABASE ${name} ${from}`);
  onTestFinished(() => administer(`DROP DATABASE ${name} WITH (FORCE)`));
  return addressInCluster(name);
}

/** A database of its own, brought up to date and dropped after the test. */
export async function temporaryPostgresql(): Promise<PostgresqlDatabase> {
  return openForTest(await temporaryAddress());
}

/** Further connections, as another process would have; closed after the test. */
export async function openForTest(address: string, options?: PostgresqlOptions): Promise<PostgresqlDatabase> {
  const db = await openPostgresql(address, options);
  onTestFinished(() => db.close());
  return db;
}
