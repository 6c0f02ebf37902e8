import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import SqliteDatabase from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { findStructureDifferences } from "../../src/database/sqlite/check-structure.ts";
import { APPLICATION_ID } from "../../src/database/sqlite/file-owner.ts";
import { migrations } from "../../src/database/migrations.generated.ts";
import { compareStructure, structureAfter } from "../../src/database/sqlite/structure.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";

/** What somebody does to a database with a shell, and what is said of it. */
const CASES = [
  {
    what: "a trigger that deletes each submission",
    sql: "CREATE TRIGGER sweep AFTER INSERT ON submission BEGIN DELETE FROM submission WHERE seq = new.seq; END",
    said: "trigger sweep is unknown",
  },
  { what: "a dropped table", sql: "DROP TABLE attempt", said: "table attempt is missing" },
  {
    what: "a view in a table's place",
    sql: "ALTER TABLE idempotency RENAME TO hidden; CREATE VIEW idempotency AS SELECT * FROM hidden",
    said: "view idempotency is unknown",
  },
  {
    what: "a missing column",
    sql: "ALTER TABLE submission DROP COLUMN event_tail",
    said: "column submission.event_tail is missing",
  },
  {
    what: "a column too many",
    sql: "ALTER TABLE held ADD COLUMN note TEXT",
    said: "column held.note is unknown",
  },
  {
    what: "a dropped trigger",
    sql: "DROP TRIGGER endpoint_gets_number",
    said: "trigger endpoint_gets_number is missing",
  },
  {
    what: "another index",
    sql: "DROP INDEX held_by_key; CREATE INDEX held_by_key ON held (endpoint_id, key_hash)",
    said: "index held_by_key is changed",
  },
  {
    what: "an index too many",
    sql: "CREATE UNIQUE INDEX one_a_day ON submission (created_at / 86400000)",
    said: "index one_a_day is unknown",
  },
];

async function machineWithCopy(): Promise<OperatorMachine> {
  const machine = operatorMachine();
  await machine.createEndpoint();
  copyFileSync(machine.database, machine.path("copy.db"));
  return machine;
}

test("restore refuses a backup of another structure with exit 5 and the name of what differs, and changes nothing", async () => {
  const machine = await machineWithCopy();
  const before = readFileSync(machine.database);
  for (const [index, { what, sql, said }] of CASES.entries()) {
    const file = machine.path(`changed-${index}.db`);
    copyFileSync(machine.path("copy.db"), file);
    const connection = new SqliteDatabase(file);
    connection.exec(sql);
    connection.close();
    const ran = await machine.run(["restore", file, "--yes"]);
    expect([what, ran.code, ran.stderr]).toEqual([
      what,
      5,
      expect.stringContaining(`${file}: its structure`),
    ]);
    expect(ran.stderr).toContain(said);
  }
  expect(readFileSync(machine.database)).toEqual(before);
  expect(readdirSync(machine.folder).filter((name) => /replaced|restore-/.test(name))).toEqual([]);
});

test("of many differences the tables, views and triggers are named, and the indices that went with them only counted", () => {
  const connection = new SqliteDatabase(":memory:");
  for (const { sql } of migrations) connection.exec(sql);
  connection.exec("DROP TABLE held; DROP TABLE lesson; CREATE VIEW held AS SELECT 1");
  connection.exec(
    "CREATE TRIGGER sweep AFTER INSERT ON submission BEGIN DELETE FROM submission WHERE seq = new.seq; END",
  );
  const differences = compareStructure(connection, structureAfter(migrations));
  connection.close();
  expect(differences.slice(0, 4)).toEqual([
    "table held is missing",
    "table lesson is missing",
    "view held is unknown",
    "trigger sweep is unknown",
  ]);
  expect(differences.at(-1)).toMatch(/^and \d+ more$/);
});

test("a backup of an older version is restored if it has that version's structure, and refused if not", async () => {
  const machine = await machineWithCopy();
  const older = machine.open(machine.path("older.db"));
  for (const { sql } of migrations.slice(0, 4)) older.exec(sql);
  older.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 4`);
  copyFileSync(machine.path("older.db"), machine.path("changed.db"));
  machine.open(machine.path("changed.db")).exec("DROP INDEX webhook_by_endpoint");
  const refused = await machine.run(["restore", "changed.db", "--yes"]);
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringContaining("index webhook_by_endpoint is missing"),
  ]);
  await machine.mustRun(["restore", "older.db", "--yes"]);
  await machine.mustRun(["migrate", "up"]);
});

describe.each([
  CASES.find(({ what }) => what === "a dropped table")!,
  CASES.find(({ what }) => what === "a trigger that deletes each submission")!,
])("a database with $what", ({ sql, said }) => {
  test("is not served: exit 5 and the name, no stack", async () => {
    const machine = await machineWithCopy();
    machine.open().exec(sql);
    const ran = await machine.run(["serve", "--port", "0"]);
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining(said)]);
    expect(ran.stderr).not.toMatch(/\n {4}at /);
  });

  test("is not copied: exit 5 and the name, and no new file", async () => {
    const machine = await machineWithCopy();
    machine.open().exec(sql);
    const ran = await machine.run(["copy", "--to", "new.db"]);
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining(said)]);
    expect(readdirSync(machine.folder).filter((name) => name.startsWith("new.db"))).toEqual([]);
  });

  test("is a finding of doctor, which leaves out what it could not read", async () => {
    const machine = await machineWithCopy();
    machine.open().exec(sql);
    const ran = await machine.run(["doctor", "--json"]);
    expect(ran.code).toBe(1);
    const { checks } = ran.json() as { checks: { name: string; ok: boolean; message: string }[] };
    expect(checks.find(({ name }) => name === "database.structure")).toMatchObject({
      ok: false,
      message: said,
    });
  });

  test("can be backed up, and the backup says that restore will refuse it", async () => {
    const machine = await machineWithCopy();
    machine.open().exec(sql);
    const ran = await machine.mustRun(["backup", "saved.db"]);
    expect(ran.stderr).toContain(`restore will refuse this backup: ${said}`);
  });
});

test("an older database of another structure is not upgraded: exit 5 and the name, and no copy is left", async () => {
  const machine = operatorMachine();
  const older = machine.open();
  for (const { sql } of migrations.slice(0, 4)) older.exec(sql);
  older.exec(`DROP TABLE attempt; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 4`);
  for (const args of [
    ["serve", "--port", "0"],
    ["endpoint", "list"],
    ["migrate", "up", "--dry-run"],
  ]) {
    const ran = await machine.run(args);
    expect([args[0], ran.code, ran.stderr]).toEqual([
      args[0],
      5,
      expect.stringContaining("table attempt is missing"),
    ]);
  }
  expect(older.pragma("user_version", { simple: true })).toBe(4);
  expect(readdirSync(machine.folder).filter((name) => name.includes(".schema-"))).toEqual([]);
});

test("SQLite's own tables and Litestream's are no difference", () => {
  const connection = new SqliteDatabase(":memory:");
  for (const { sql } of migrations) connection.exec(sql);
  connection.pragma(`user_version = ${migrations.length}`);
  connection.exec(`
    ANALYZE;
    CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE _litestream_lock (id INTEGER);
  `);
  expect(findStructureDifferences(connection)).toEqual([]);
  connection.exec("CREATE TRIGGER _litestream_x AFTER INSERT ON held BEGIN DELETE FROM held; END");
  expect(findStructureDifferences(connection)).toEqual(["trigger _litestream_x is unknown"]);
  connection.close();
});

test.each([
  ["a virtual table", "CREATE VIRTUAL TABLE _litestream_x USING fts5(a)"],
  ["a computed column", "CREATE TABLE _litestream_x (a, b AS (abs(a)))"],
  ["a computed check", "CREATE TABLE _litestream_x (a CHECK (abs(a)))"],
])("%s is a difference also under a name like those of Litestream's tables", (_what, sql) => {
  const connection = new SqliteDatabase(":memory:");
  for (const { sql: ours } of migrations) connection.exec(ours);
  connection.pragma(`user_version = ${migrations.length}`);
  connection.exec(sql);
  expect(findStructureDifferences(connection)).toContain("table _litestream_x is unknown");
  connection.close();
});

test("spaces, comments and the quotes around a plain name make no difference, and text between quotes does", () => {
  const expected = structureAfter([
    { sql: `CREATE TABLE t (\n  -- One of two.\n  a TEXT CHECK (a IN ('x', 'y'))\n)` },
  ]);
  const differences = (sql: string): string[] => {
    const connection = new SqliteDatabase(":memory:");
    connection.exec(sql);
    const found = compareStructure(connection, expected);
    connection.close();
    return found;
  };
  expect(differences(`CREATE TABLE "t" (a TEXT /* one */ CHECK(a IN('x','y')))`)).toEqual([]);
  for (const values of ["'x', 'y--\n'", "'x', ' y'", "'x', 'Y'", "'x', 'y', 'z'"]) {
    expect(differences(`CREATE TABLE t (a TEXT CHECK (a IN (${values})))`)).toEqual(["table t is changed"]);
  }
});
