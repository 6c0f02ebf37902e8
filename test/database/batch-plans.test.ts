import type { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgresql } from "../../src/database/postgresql/open-postgresql.ts";
import { firstIdAt } from "../../src/foundation/id.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";
import { expireSubmissions } from "../../src/submissions/stored/retention.ts";
import { deleteSubmissionsOf } from "../../src/submissions/stored/submission-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { fillEveryTable } from "../support/full-database.ts";
import { growSql } from "../support/grow-table.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { workOf } from "../support/steps-on-connection.ts";
import { addressForFile, hasPostgresql } from "../support/temporary-postgresql.ts";

const ROWS = 20_000;
/** Some times the 200 rows of a batch, and much less than all. */
const MOST = 2000;
const NOW = NOON + 400 * DAY_MS;

/** An id of each number, made at this time. */
const idAt = (time: number): string =>
  `'${firstIdAt("sub", time).slice(0, 14)}' || lpad(number::text, 16, '0')`;

/** A connection to a database with {@link ROWS} submissions of the first endpoint and some of others, and no statistics. */
async function withMany(): Promise<{ client: Client; endpointIds: readonly string[] }> {
  const address = await addressForFile();
  const db = await openPostgresql(address);
  const { endpointIds } = await fillEveryTable(db);
  await db.close();
  const client = await connectPlainly(address);
  onTestFinished(() => client.end());
  await client.query("SET session_replication_role = replica");
  await client.query("ALTER TABLE submission SET (autovacuum_enabled = off)");
  await add(client, endpointIds[0], NOON - DAY_MS);
  await client.query("UPDATE endpoint SET keep_days = NULL");
  return { client, endpointIds };
}

async function add(client: Client, endpointId: string | undefined, time: number): Promise<void> {
  const number = `(SELECT number FROM endpoint_number WHERE endpoint_id = '${endpointId}')`;
  const given = { id: idAt(time), endpoint_number: number };
  await client.query(await growSql(client, "submission", { rows: ROWS, given }));
}

const keep = (client: Client, endpointId: string | undefined) =>
  client.query("UPDATE endpoint SET keep_days = 1 WHERE id = $1", [endpointId]);

describe.skipIf(!hasPostgresql)("on PostgreSQL", () => {
  test("a batch of old submissions reads some hundred rows if there are no statistics", async () => {
    const { client, endpointIds } = await withMany();
    await keep(client, endpointIds[0]);
    const done = await workOf(client, expireSubmissions(30, NOW));
    expect(done.filter(({ rows }) => rows > MOST)).toEqual([]);
    expect(done.some(({ rows }) => rows >= 200)).toBe(true);
  });

  test("a batch of submissions of an endpoint does, too", async () => {
    const { client, endpointIds } = await withMany();
    const done = await workOf(client, deleteSubmissionsOf(endpointIds[0] ?? "", 200));
    expect(done.filter(({ rows }) => rows > MOST)).toEqual([]);
    expect(done.some(({ rows }) => rows >= 200)).toBe(true);
  });

  test("what other endpoints keep for ever is not read to find the old submissions of one", async () => {
    const { client, endpointIds } = await withMany();
    await add(client, endpointIds[1], NOON + 2 * DAY_MS);
    await client.query("ANALYZE submission");
    // Nothing of the second endpoint is old yet, and PostgreSQL believes that half of what is old is of it.
    await keep(client, endpointIds[1]);
    const done = await workOf(client, expireSubmissions(30, NOON + DAY_MS));
    expect(done.filter(({ rows }) => rows > MOST)).toEqual([]);
  });
});
