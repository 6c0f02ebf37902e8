import type { PoolClient } from "pg";
import { inLockedTransaction } from "./migrate-postgresql.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";

/** Rows that the transaction wrote that wrote the version: those of the tables and functions that it made, and of nobody else's. */
const MADE = "xmin = (SELECT xmin FROM schema_version)";
const HERE = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())";
const TABLES_SQL = `SELECT string_agg(oid::regclass::text, ', ') AS names FROM pg_class
  WHERE relkind = 'r' AND relnamespace = ${HERE} AND ${MADE}`;
const FUNCTIONS_SQL = `SELECT string_agg(oid::regprocedure::text, ', ') AS names FROM pg_proc
  WHERE pronamespace = ${HERE} AND ${MADE}`;
/** Finds an account, or another client's connection: that client may be about to store something. */
const USED_SQL = `SELECT 1 FROM account UNION ALL SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') = 'client backend'`;
const LEFT_SQL = `SELECT 1 FROM pg_class WHERE relkind = 'r' AND relnamespace = ${HERE}`;

/**
 * Drops the tables that this process made a moment ago, unless there is an account: without an account no table can hold content. The tables
 * stay if another client is connected, or has tables in the schema. A process that connects meanwhile waits for the lock of migrations, and
 * makes the tables anew.
 *
 * @returns whether the tables were dropped.
 */
export async function removeUnusedTables(db: PostgresqlDatabase): Promise<boolean> {
  try {
    await inLockedTransaction(db, "COMMIT", dropUnused);
    return true;
  } catch {
    return false;
  }
}

/** @throws if the tables stay; that ends the transaction */
async function dropUnused(client: PoolClient): Promise<void> {
  const namesOf = async (sql: string): Promise<string> =>
    (await client.query<{ names: string }>(sql)).rows[0]?.names ?? "";
  await refuseIfAny(client, USED_SQL);
  const [tables, functions] = [await namesOf(TABLES_SQL), await namesOf(FUNCTIONS_SQL)];
  await client.query(`DROP TABLE ${tables}`);
  await client.query(`DROP FUNCTION ${functions}`);
  await refuseIfAny(client, LEFT_SQL);
}

async function refuseIfAny(client: PoolClient, sql: string): Promise<void> {
  if ((await client.query(`${sql} LIMIT 1`)).rowCount !== 0) throw new Error("the database is used");
}
