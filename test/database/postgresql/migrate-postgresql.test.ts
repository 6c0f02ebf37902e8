import { describe, expect, test } from "vitest";
import { query } from "../../../src/database/database.ts";
import { join, leave } from "../../../src/database/postgresql/live-server-rows.ts";
import {
  migratePostgresql,
  postgresqlMigrationStatus,
  rehearsePostgresqlMigration,
} from "../../../src/database/postgresql/migrate-postgresql.ts";
import { migrations } from "../../../src/database/postgresql/migrations.generated.ts";
import { all, run, text } from "../../../src/database/steps.ts";
import { addPlace } from "../../support/batch-world.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../../support/temporary-postgresql.ts";

const EMPTY = "TEMPLATE template0";
const LATEST = migrations.at(-1)?.version ?? 0;
const NAMES = migrations.map(({ name }) => name);
/** One that the programs before it do not survive. */
const ENDING = {
  version: LATEST + 1,
  name: "ending.sql",
  sql: `UPDATE schema_version SET oldest_program = ${LATEST + 1}`,
};
const NEXT = { version: LATEST + 1, name: "next.sql", sql: "ALTER TABLE account ADD COLUMN nickname text" };

interface ColumnRow {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly nullable: string;
  readonly default: string | null;
}

const COLUMNS_SQL = `SELECT table_name AS "table", column_name AS "column", data_type AS type, is_nullable AS nullable,
    coalesce(column_default, identity_generation, CASE is_generated WHEN 'ALWAYS' THEN is_generated END) AS "default"
  FROM information_schema.columns WHERE table_schema = current_schema()`;

function columnOf({ table, column, type, nullable, default: value }: ColumnRow) {
  return { table, name: `${table}.${column}`, type, needsValue: nullable === "NO" && value === null };
}

describe.skipIf(!hasPostgresql)("migrations of PostgreSQL", () => {
  test("make an empty database whole, and find nothing to do in one that is", async () => {
    const db = await openForTest(await temporaryAddress(EMPTY));
    expect(await postgresqlMigrationStatus(db)).toEqual({ version: 0, latest: LATEST, pending: NAMES });
    expect((await migratePostgresql(db)).pending).toEqual(NAMES);
    expect(await postgresqlMigrationStatus(db)).toEqual({ version: LATEST, latest: LATEST, pending: [] });
    expect((await migratePostgresql(db)).pending).toEqual([]);
    const settings = await db.read(() => all(query.selectFrom("settings_version").selectAll()));
    expect(settings).toEqual([{ id: 1, version: 1 }]);
  });

  test("of several processes at once run once", async () => {
    const address = await temporaryAddress(EMPTY);
    const processes = await Promise.all([openForTest(address), openForTest(address), openForTest(address)]);
    const found = await Promise.all(processes.map((db) => migratePostgresql(db)));
    expect(found.filter(({ pending }) => pending.length === NAMES.length)).toHaveLength(1);
    expect(found.filter(({ pending }) => pending.length === 0)).toHaveLength(2);
  });

  test("can be rehearsed, and leave the database as it was", async () => {
    const db = await openForTest(await temporaryAddress(EMPTY));
    expect((await rehearsePostgresqlMigration(db)).pending).toEqual(NAMES);
    expect((await postgresqlMigrationStatus(db)).version).toBe(0);
  });

  test("keep what servers of any earlier version read and write: tables and columns stay, and a new column needs no value", async () => {
    const db = await openForTest(await temporaryAddress(EMPTY));
    /** By table and column, the version that brought it, and its type. */
    const brought = new Map<string, { version: number; type: string }>();
    const tables = new Map<string, number>();
    const needed: string[] = [];
    const look = async () => (await db.read(() => all(text<ColumnRow>(COLUMNS_SQL)))).map(columnOf);
    for (const { version } of migrations) {
      await migratePostgresql(db, { known: migrations.filter((each) => each.version <= version) });
      for (const { table, name, type, needsValue } of await look()) {
        if (needsValue && !brought.has(name) && tables.has(table)) needed.push(`${name} (${version})`);
        if (!brought.has(name)) brought.set(name, { version, type });
      }
      for (const { table } of await look()) if (!tables.has(table)) tables.set(table, version);
    }
    const left = new Map((await look()).map(({ name, type }) => [name, type]));
    const changed = [...brought].filter(([name, { type }]) => left.get(name) !== type);
    expect({ changed, needed }).toEqual({ changed: [], needed: [] });
    expect(brought.size).toBeGreaterThan(400);
  });

  test("of a newer program let an earlier one note and read a page that names another site", async () => {
    const db = await openForTest(await temporaryAddress());
    const { endpointId } = await addPlace(db);
    // As servers before `page_fault` write and read it.
    const note = `INSERT INTO ignored_redirect (endpoint_id, origin, seen_at) SELECT id, ?, ? FROM endpoint WHERE id = ?
      ON CONFLICT (endpoint_id) DO UPDATE SET origin = excluded.origin, seen_at = excluded.seen_at`;
    for (const origin of ["https://a.example", "https://b.example"])
      await db.transaction(() => run(text(note, origin, 1, endpointId)));
    const read = `SELECT endpoint.name, origin FROM ignored_redirect JOIN endpoint ON endpoint.id = endpoint_id WHERE seen_at >= ?`;
    expect(await db.read(() => all(text(read, 1)))).toEqual([
      { name: "Contact", origin: "https://b.example" },
    ]);
  });

  test("count the bytes of posts that were held before, and of those that a server of an earlier version still holds", async () => {
    const db = await openForTest(await temporaryAddress(EMPTY));
    await migratePostgresql(db, { known: migrations.filter(({ version }) => version < 25) });
    const hold = (id: string): Promise<number> =>
      db.transaction(() =>
        run(
          text(`INSERT INTO held (id, workspace_id, endpoint_id, why, trapped, schema_version, data, spam_score, spam_reasons,
              ip_address, user_agent, created_at)
            VALUES ('${id}', 'ws_1', 'ep_1', 'spam', 0, 1, '{"a":"é"}', 90, '[]', '', '', 1)`),
        ),
      );
    await db.transaction(function* () {
      for (const sql of [
        "INSERT INTO account (id, email, created_at) VALUES ('acct_1', 'a@example.org', 1)",
        "INSERT INTO workspace (id, account_id, name, plan, created_at) VALUES ('ws_1', 'acct_1', 'One', 'hobby', 1)",
        `INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, store_address, created_at)
          VALUES ('ep_1', 'ws_1', 'Contact', 'active', 1, '[]', 'drop', 'full', 1)`,
      ])
        yield* run(text(sql));
    });
    await hold("held_1");
    await migratePostgresql(db);
    const count = () => db.read(() => all(query.selectFrom("held_total").select(["posts", "bytes"])));
    expect(await count()).toEqual([{ posts: 1, bytes: 18 }]);
    await hold("held_2");
    expect(await count()).toEqual([{ posts: 2, bytes: 36 }]);
  });

  test("that fail leave nothing behind", async () => {
    const db = await openForTest(await temporaryAddress());
    const broken = { ...NEXT, version: LATEST + 2, sql: "NONSENSE" };
    await expect(migratePostgresql(db, { known: [...migrations, NEXT, broken] })).rejects.toThrow(
      "syntax error",
    );
    expect((await postgresqlMigrationStatus(db)).version).toBe(LATEST);
    expect((await migratePostgresql(db, { known: [...migrations, NEXT] })).pending).toEqual(["next.sql"]);
  });

  test("of a newer program that only added leave this one at work", async () => {
    const db = await openForTest(await temporaryAddress());
    await migratePostgresql(db, { known: [...migrations, NEXT] });
    expect(await postgresqlMigrationStatus(db)).toEqual({ version: LATEST + 1, latest: LATEST, pending: [] });
    expect((await migratePostgresql(db)).pending).toEqual([]);
  });

  test("run beside servers of an older version only when told to, and only if those can go on", async () => {
    const db = await openForTest(await temporaryAddress());
    await db.withConnection((client) => join(client, "srv_1", db.name));
    const known = [...migrations, NEXT];
    await expect(migratePostgresql(db, { known })).rejects.toMatchObject({
      code: "server_running",
      facts: { hint: { kind: "migrate_beside_servers" } },
    });
    const ending = { known: [...migrations, ENDING], besideServers: true };
    await expect(migratePostgresql(db, ending)).rejects.toMatchObject({
      code: "server_running",
      facts: { hint: { kind: "stop_older_servers" } },
    });
    expect((await postgresqlMigrationStatus(db)).version).toBe(LATEST);
    expect((await migratePostgresql(db, { known, besideServers: true })).pending).toEqual(["next.sql"]);
    await db.withConnection((client) => leave(client, "srv_1"));
    const later = {
      ...ENDING,
      version: LATEST + 2,
      sql: ENDING.sql.replaceAll(String(LATEST + 1), String(LATEST + 2)),
    };
    expect((await migratePostgresql(db, { known: [...known, later] })).pending).toEqual(["ending.sql"]);
    // Who starts now and is older finds out before it counts as a server.
    await expect(db.withConnection((client) => join(client, "srv_2", db.name))).rejects.toMatchObject({
      code: "database_unusable",
    });
  });

  test("refuse a database of a newer program, or with tables of another one", async () => {
    const newer = await openForTest(await temporaryAddress());
    await migratePostgresql(newer, { known: [...migrations, ENDING] });
    await expect(migratePostgresql(newer)).rejects.toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining(`schema ${LATEST + 1}; this one knows ${LATEST}`) as string,
    });
    const foreign = await openForTest(await temporaryAddress(EMPTY));
    await foreign.transaction(() => run(text("CREATE TABLE customer (name text)")));
    await expect(migratePostgresql(foreign)).rejects.toThrow("it holds tables of another program");
  });
});
