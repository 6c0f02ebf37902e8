import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Driver from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { openMigrated } from "../../src/app/open-migrated.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { migrate, type Migration, migrationStatus } from "../../src/database/migrate.ts";
import { migrations } from "../../src/database/migrations.generated.ts";
import { readStructure } from "../../src/database/sqlite/structure.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** As a later version of the program would have them. */
const later: readonly Migration[] = [
  ...migrations,
  { version: migrations.length + 1, name: "9999-later.sql", sql: "CREATE TABLE later (id INTEGER) STRICT" },
];

function copies(db: SqliteDatabase): string[] {
  return readdirSync(dirname(db.path)).filter((name) => name.startsWith(`${basename(db.path)}.schema-`));
}

describe("the embedded migrations", () => {
  const folder = fileURLToPath(new URL("../../migrations/", import.meta.url));

  test("are the SQL files of migrations/, byte for byte and in order", () => {
    const files = readdirSync(folder)
      .filter((name) => name.endsWith(".sql") && name !== "schema.sql")
      .sort();
    const expected = files.map((name, index) => ({
      version: index + 1,
      name,
      sql: readFileSync(join(folder, name), "utf8"),
    }));
    expect(migrations).toEqual(expected);
  });

  test("make STRICT tables only", () => {
    const tables = temporaryDatabase()
      .prepare("SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'")
      .all() as { name: string; strict: number }[];
    expect(tables.length).toBeGreaterThan(5);
    expect(tables.filter(({ strict }) => strict !== 1)).toEqual([]);
  });

  test("leave a database without a problem", () => {
    const db = temporaryDatabase();
    expect(db.pragma("integrity_check")).toBe("ok");
    expect(db.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  });
});

test("a new file gets every migration, the mark of the program, and no copy", () => {
  const path = join(temporaryFolder(), "new.db");
  const db = openDatabase(path, { busyTimeoutMs: 10 });
  const result = migrate(db);
  expect(result).toEqual({
    version: 0,
    latest: migrations.length,
    pending: migrations.map(({ name }) => name),
    keptCopy: null,
  });
  expect(Buffer.from([0, 0, 0, 0]).writeUInt32BE(Number(db.pragma("application_id")))).toBe(4);
  expect(Number(db.pragma("application_id")).toString(16)).toBe(Buffer.from("fsvc").toString("hex"));
  expect(migrate(db)).toMatchObject({ pending: [], keptCopy: null });
  expect(copies(db)).toEqual([]);
  db.close();
});

test("a new file is made at once, with the tables and rows that it would have after one migration after another", () => {
  const folder = temporaryFolder();
  const contentOf = (name: string, known?: readonly Migration[]) => {
    const db = openDatabase(join(folder, name), { busyTimeoutMs: 10 });
    migrate(db, known);
    const structure = readStructure(db);
    const tables = structure.filter(({ type }) => type === "table").map((part) => part.name);
    const rows = tables.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).all()]);
    const marks = [db.pragma("application_id"), db.pragma("user_version")];
    db.close();
    return { structure, rows, marks };
  };
  expect(contentOf("at-once.db")).toEqual(contentOf("one-by-one.db", [...migrations]));
});

test("upgrading a file with data keeps a private, whole copy from before", () => {
  const db = temporaryDatabase();
  db.execute("INSERT INTO account (id, email, created_at) VALUES ('acct_1', 'a@b', 1)");
  const { keptCopy } = migrate(db, later);
  expect(keptCopy).toBe(`${db.path}.schema-${migrations.length}`);
  expect((statSync(keptCopy!).mode & 0o777).toString(8)).toBe("600");
  const copy = openDatabase(keptCopy!, { busyTimeoutMs: 10 });
  expect(copy.prepare("SELECT email FROM account").pluck().all()).toEqual(["a@b"]);
  expect(migrationStatus(copy, later).pending).toEqual(["9999-later.sql"]);
  expect(copy.pragma("integrity_check")).toBe("ok");
  copy.close();
  expect(db.prepare("SELECT count(*) FROM later").pluck().get()).toBe(0);
});

test("an older copy is not overwritten", () => {
  const db = temporaryDatabase();
  const older = `${db.path}.schema-${migrations.length}`;
  writeFileSync(older, "older");
  expect(migrate(db, later).keptCopy).toBe(`${older}.1`);
  expect(readFileSync(older, "utf8")).toBe("older");
});

test("a copy that cannot be made whole is not left behind", () => {
  const db = temporaryDatabase();
  const full: SqliteDatabase = {
    ...db,
    prepare: () => {
      const [unfinished = ""] = copies(db);
      writeFileSync(join(dirname(db.path), unfinished), "half of it");
      throw new Error("the disk is full");
    },
  };
  expect(() => migrate(full, later)).toThrow("the disk is full");
  expect(copies(db)).toEqual([]);
});

test("a migration that fails changes nothing and leaves no copy behind, however often it is tried", () => {
  const db = temporaryDatabase();
  const broken: Migration[] = [
    ...migrations,
    {
      version: migrations.length + 1,
      name: "half.sql",
      sql: "CREATE TABLE half (id INTEGER) STRICT; NO SQL",
    },
  ];
  expect(() => migrate(db, broken)).toThrow(/syntax error/);
  expect(() => migrate(db, broken)).toThrow(/syntax error/);
  expect(copies(db)).toEqual([]);
  expect(migrationStatus(db).version).toBe(migrations.length);
  expect(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").pluck().get()).toBe(0);
});

test("a database from a newer formsvc is refused and not touched", () => {
  const db = temporaryDatabase();
  migrate(db, later);
  expect(() => migrate(db)).toThrow(
    expect.objectContaining({
      code: "database_unusable",
      message: expect.stringMatching(/newer formsvc/) as string,
    }) as Error,
  );
});

test.each([
  ["without a version", "CREATE TABLE theirs (id)"],
  ["with a version of its own", "CREATE TABLE theirs (id); PRAGMA user_version = 1"],
  ["with a mark of its own", "PRAGMA application_id = 42; PRAGMA user_version = 1"],
])("another program's database %s is refused and not touched", (_, sql) => {
  const file = join(temporaryFolder(), "theirs.db");
  const theirs = new Driver(file);
  theirs.exec(sql);
  theirs.close();
  const before = readFileSync(file);
  expect(() => openDatabase(file, { busyTimeoutMs: 10 })).toThrow(/another program's database/);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("tables that a replicator keeps in a new file say nothing about whose it is", () => {
  const db = openDatabase(join(temporaryFolder(), "replicated.db"), { busyTimeoutMs: 10 });
  db.execute("CREATE TABLE _litestream_seq (id INTEGER); CREATE TABLE _litestream_lock (id INTEGER)");
  expect(migrate(db).pending).toHaveLength(migrations.length);
  db.close();
});

test("a second connection that comes while the first migrates waits, and finds nothing to do", async () => {
  const path = join(temporaryFolder(), "formsvc.db");
  const worker = fileURLToPath(new URL("../support/open-database.ts", import.meta.url));
  const children = Array.from({ length: 4 }, () =>
    fork(worker, [path], { stdio: ["ignore", "pipe", "inherit", "ipc"] }),
  );
  // All of them are up before any opens the file.
  await Promise.all(children.map((child) => once(child, "message")));
  const results = Promise.all(
    children.map(async (child) => (await once(child, "message"))[0] as { error?: string; applied?: number }),
  );
  for (const child of children) child.send("go");
  const outcomes = await results;
  expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(outcomes.reduce((sum, { applied = 0 }) => sum + applied, 0)).toBe(migrations.length);
}, 60_000);

test("of two that upgrade one file at once, one does it and keeps the one copy", () => {
  const db = temporaryDatabase();
  const quicker = openDatabase(db.path, { busyTimeoutMs: 10 });
  // The other process is done between the first look and the transaction.
  const racing: SqliteDatabase = {
    ...db,
    transactionNow: (work) => {
      migrate(quicker, later);
      return db.transactionNow(work);
    },
  };
  expect(migrate(racing, later)).toMatchObject({ pending: [], keptCopy: null });
  expect(copies(db)).toHaveLength(1);
  expect(existsSync(`${db.path}.schema-${migrations.length}`)).toBe(false);
  quicker.close();
});

test("a server that starts while a command writes waits for it, and then waits no more", async () => {
  const path = join(temporaryFolder(), "formsvc.db");
  const config = { ...defaultConfig, database: { ...defaultConfig.database, path } };
  const worker = fileURLToPath(new URL("../support/hold-lock.ts", import.meta.url));
  const holder = fork(worker, [path, "700"], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  await once(holder, "message");
  const { db } = openMigrated(config, 10);
  expect([db.pragma("user_version"), db.pragma("busy_timeout")]).toEqual([migrations.length, 10]);
  db.close();
}, 60_000);
