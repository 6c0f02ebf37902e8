import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { all, first, run } from "../../src/database/steps.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function pragmas(db: SqliteDatabase): Record<string, unknown> {
  return Object.fromEntries(
    ["journal_mode", "synchronous", "foreign_keys", "trusted_schema"].map((name) => [name, db.pragma(name)]),
  );
}

const DURABLE = { journal_mode: "wal", synchronous: 2, foreign_keys: 1, trusted_schema: 0 };

function mode(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

function refusal(work: () => unknown): FormsvcError {
  try {
    work();
  } catch (error) {
    if (error instanceof FormsvcError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

test("every connection is durable: WAL, synchronous=FULL and foreign keys, also when the file is opened again", () => {
  const first = temporaryDatabase();
  expect(pragmas(first)).toEqual(DURABLE);
  expect(pragmas(openForTest(first.path))).toEqual(DURABLE);
});

test("the server's own connection is durable, before and after a restart", async () => {
  const server = await startServer();
  expect(pragmas(server.serverDatabase)).toEqual(DURABLE);
  await server.restart();
  expect(pragmas(server.serverDatabase)).toEqual(DURABLE);
  expect(server.serverDatabase.pragma("busy_timeout")).toBe(10);
});

test("a file that was left in another journal mode is put into WAL again", () => {
  const path = join(temporaryFolder(), "formsvc.db");
  const db = openDatabase(path, { busyTimeoutMs: 100 });
  db.pragma("journal_mode = DELETE");
  db.close();
  expect(pragmas(openForTest(path))).toEqual(DURABLE);
});

test("a database behind a link is opened if it exists, and is never created through a link", () => {
  const folder = temporaryFolder();
  const [link, file] = [join(folder, "link.db"), join(folder, "formsvc.db")];
  symlinkSync(file, link);
  expect(refusal(() => openDatabase(link, { busyTimeoutMs: 100 })).message).toContain(
    "a link that leads nowhere",
  );
  expect(existsSync(file)).toBe(false);
  openForTest(file);
  expect(pragmas(openForTest(link))).toEqual(DURABLE);
});

test("the database, its log and its shared memory are readable by their owner alone, whatever the umask", () => {
  const umask = process.umask(0o000);
  try {
    const db = temporaryDatabase();
    db.execute("UPDATE settings_version SET version = 2");
    expect(["", "-wal", "-shm"].map((suffix) => mode(db.path + suffix))).toEqual(["600", "600", "600"]);
  } finally {
    process.umask(umask);
  }
});

test("a connection beside a busy one waits so long and no longer, and then says so", () => {
  const holder = temporaryDatabase();
  const db = openForTest(holder.path, 50);
  holder.execute("BEGIN IMMEDIATE");
  const from = performance.now();
  const error = refusal(() => db.transactionNow(() => null));
  expect(performance.now() - from).toBeGreaterThanOrEqual(45);
  expect([error.code, error.facts.retryAfterSeconds]).toEqual(["database_busy", 1]);
  holder.execute("ROLLBACK");
  expect(db.transactionNow(() => "free")).toBe("free");
});

test("a transaction that throws leaves nothing behind, and the connection goes on", async () => {
  const db = temporaryDatabase();
  const insert = query.insertInto("account").values({ id: "acct_1", email: "a@b", created_at: 1 });
  const halfWay = db.transaction(function* () {
    yield* run(insert);
    throw new Error("half-way");
  });
  await expect(halfWay).rejects.toThrow("half-way");
  expect(db.now(() => all(query.selectFrom("account").selectAll()))).toEqual([]);
  expect(await db.transaction(() => run(insert))).toBe(1);
});

test("statements are kept in bounds and still right after a thousand different ones", () => {
  const db = temporaryDatabase();
  for (let column = 0; column < 1000; column += 1) {
    const built = query.selectFrom("settings_version").select((eb) => eb.lit(column).as("n"));
    expect(db.now(() => first(built))).toEqual({ n: column });
  }
});

function namedPipe(): string {
  const path = join(temporaryFolder(), "pipe.db");
  execFileSync("mkfifo", [path]);
  return path;
}

describe("a path that cannot be used is refused with what to do", () => {
  test.each([
    [
      "a folder that does not exist",
      () => join(temporaryFolder(), "no", "formsvc.db"),
      /folder does not exist/,
    ],
    ["a pipe instead of a file", () => namedPipe(), /it is a pipe or a device; name the database file/],
    ["a folder instead of a file", () => temporaryFolder(), /it is a folder; name a file in it/],
    [
      "a file that is no database",
      () => {
        const path = join(temporaryFolder(), "notes.txt");
        writeFileSync(path, "x".repeat(8192));
        return path;
      },
      /not a formsvc database/,
    ],
  ])("%s", (_, makePath, message) => {
    const path = makePath();
    const error = refusal(() => openDatabase(path, { busyTimeoutMs: 10 }));
    expect(error.code).toBe("database_unusable");
    expect(error.message).toMatch(message);
  });

  test.skipIf(process.getuid?.() === 0)("a file that may not be written", () => {
    const db = temporaryDatabase();
    db.close();
    chmodSync(db.path, 0o400);
    expect(refusal(() => openForTest(db.path)).code).toBe("database_unusable");
  });
});

test("a path that is not touched stays as it is: refusing makes no file", () => {
  const folder = temporaryFolder();
  refusal(() => openDatabase(join(folder, "no", "formsvc.db"), { busyTimeoutMs: 10 }));
  mkdirSync(join(folder, "yes"));
  const empty = join(folder, "yes", "empty.db");
  writeFileSync(empty, "");
  openDatabase(empty, { busyTimeoutMs: 10 }).close();
  expect(existsSync(join(folder, "no"))).toBe(false);
});

test("stopping leaves one file: what was in the log is in the database", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint();
  await server.post(secret, { ...goodPost, message: "find me in the file" });
  server.owner.close();
  expect(readFileSync(server.databasePath).includes("find me in the file")).toBe(false);
  await server.restart();
  expect(readFileSync(server.databasePath).includes("find me in the file")).toBe(true);
});
