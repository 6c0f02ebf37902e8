import type { PoolClient } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";
import { COPIED_TABLES, rowsAtOnce, type TableReader, type TableWriter } from "../copy-tables.ts";
import { readLiveServers } from "./live-server-rows.ts";
import { toParameter } from "./to-parameter.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";

/** Reads the tables as they are now, even while servers write. */
export function readPostgresqlTables<Result>(
  db: PostgresqlDatabase,
  work: (reader: TableReader) => Promise<Result>,
): Promise<Result> {
  return db.withConnection(async (client) => {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const result = await work(createReader(client));
    await client.query("COMMIT");
    return result;
  });
}

/**
 * Fills an empty database. If `work` throws, it stays empty.
 *
 * @throws already_exists if the database is not empty; server_running if a server works on it.
 */
export function fillPostgresqlTables<Result>(
  db: PostgresqlDatabase,
  work: (writer: TableWriter) => Promise<Result>,
): Promise<Result> {
  return db.withConnection(async (client) => {
    await client.query("BEGIN");
    for (const table of COPIED_TABLES) await client.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    await refuseServers(client, db.name);
    await client.query("DELETE FROM settings_version");
    for (const table of COPIED_TABLES) await refuseRows(client, table, db.name);
    for (const table of COPIED_TABLES) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    const result = await work(createWriter(client));
    // Checks references between rows of the same table now, because a table with pending checks cannot be altered.
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    for (const table of COPIED_TABLES) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
    for (const table of COPIED_TABLES) await continueNumbers(client, table);
    // PostgreSQL chooses the wrong indexes until it knows how many rows there are.
    for (const table of COPIED_TABLES) await client.query(`ANALYZE ${table}`);
    await client.query("COMMIT");
    return result;
  });
}

/** Refuses to copy while servers run, because they would not notice the copied rows. */
async function refuseServers(client: PoolClient, shown: string): Promise<void> {
  const servers = await readLiveServers(client);
  if (servers.length === 0) return;
  throw new FormsvcError("server_running", `${shown}: servers run on it; stop them before you copy into it`);
}

async function refuseRows(client: PoolClient, table: string, shown: string): Promise<void> {
  const { rowCount } = await client.query(`SELECT 1 FROM ${table} LIMIT 1`);
  if (rowCount === 0) return;
  throw new FormsvcError(
    "already_exists",
    `${shown}: it holds data already and is left as it is; name an empty database`,
  );
}

/** Makes new rows get numbers after those that were copied. */
async function continueNumbers(client: PoolClient, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'`,
    [table],
  );
  for (const { name } of rows) {
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, $2), coalesce(max("${name}"), 0) + 1, false) FROM ${table}`,
      [table, name],
    );
  }
}

function createReader(client: PoolClient): TableReader {
  return {
    async columns(table) {
      const { rows } = await client.query<{ name: string }>(
        `SELECT column_name AS name FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = $1`,
        [table],
      );
      return rows.map(({ name }) => name);
    },
    async *read(table, columns) {
      const order = table === "submission" ? " ORDER BY stored_by, id" : "";
      await client.query(`DECLARE copied CURSOR FOR SELECT ${list(columns)} FROM ${table}${order}`);
      const most = rowsAtOnce(table);
      const fetch = { text: `FETCH ${most} FROM copied`, rowMode: "array" } as const;
      for (;;) {
        const { rows } = await client.query<unknown[]>(fetch);
        yield rows;
        if (rows.length < most) break;
      }
      await client.query("CLOSE copied");
    },
  };
}

function createWriter(client: PoolClient): TableWriter {
  return {
    ...createReader(client),
    async write(table, columns, rows) {
      if (rows.length === 0) return;
      const placeholders = rows.map(
        (_, row) => `(${columns.map((__, column) => `$${row * columns.length + column + 1}`).join(", ")})`,
      );
      await client.query(
        `INSERT INTO ${table} (${list(columns)}) VALUES ${placeholders.join(", ")}`,
        rows.flat(),
      );
    },
    storable: toParameter,
  };
}

function list(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}
