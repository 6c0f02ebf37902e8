import { spawnSync } from "node:child_process";
import { copyFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyLeftLog } from "../../src/database/sqlite/empty-log.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { hasStrace } from "../faults/system-calls.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";

/** A database with its log, as a killed server leaves it. */
function leftDatabase(): SqliteDatabase {
  const killed = temporaryDatabase();
  killed.execute("CREATE TABLE stored (number INTEGER); INSERT INTO stored VALUES (1)");
  const path = `${killed.path}.left`;
  for (const suffix of ["", "-wal"]) copyFileSync(killed.path + suffix, path + suffix);
  return openForTest(path);
}

const logBytes = ({ path }: SqliteDatabase): number => statSync(`${path}-wal`).size;

test("what a killed server left in the log is in the file before a server stores anything, unless Litestream copies it", () => {
  const db = leftDatabase();
  expect(logBytes(db)).toBeGreaterThan(0);
  emptyLeftLog(db);
  expect(logBytes(db)).toBe(0);
  expect(db.readNow(() => db.prepare("SELECT number FROM stored").pluck().get())).toBe(1);
  const copied = leftDatabase();
  copied.execute("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  emptyLeftLog(copied);
  expect(logBytes(copied)).toBeGreaterThan(0);
});

test("when the disk failed to keep something, every transaction and read is refused, also if the disk works again", async () => {
  const db = temporaryDatabase();
  db.reportLost(Object.assign(new Error("i/o error, fdatasync"), { code: "EIO" }));
  const refusal = { code: "database_unusable", message: expect.stringContaining("(EIO)") as string };
  await expect(db.lost).resolves.toMatchObject(refusal);
  await expect(db.transaction(function* () {})).rejects.toMatchObject(refusal);
  expect(() => db.relaxedTransactionNow(() => 1)).toThrow("failed to keep");
  expect(() => db.readNow(() => db.prepare("SELECT 1").get())).toThrow("failed to keep");
});

/** Commits 20 MB that do not wait for the disk, and then says whether a sync has failed. */
const WRITER = `
  const { openDatabase } = await import(process.argv[1]);
  const db = openDatabase(process.argv[2], { busyTimeoutMs: 1000 });
  const insert = db.prepare("INSERT INTO stored VALUES (randomblob(1048576))");
  process.stdout.write("ready ");
  try {
    for (let count = 0; count < 20; count += 1) db.relaxedTransactionNow(() => insert.run());
    process.stdout.write("kept");
  } catch (error) {
    process.stdout.write(error.code);
  }
  process.kill(process.pid, "SIGKILL");
`;

/** Runs the writer. @param fails the system calls on the file that fail with EIO */
function writtenBy(fails: readonly string[]): string {
  const db = temporaryDatabase();
  const { path } = db;
  db.execute("CREATE TABLE stored (bytes BLOB)");
  const program = [process.execPath, "--input-type=module", "-e", WRITER];
  const source = new URL("../../src/database/sqlite/open-database.ts", import.meta.url).href;
  const strace = ["-f", "-o", "/dev/null", "-P", path, "-e", `inject=${fails.join(",")}:error=EIO`];
  const [command = "", ...args] = [...(fails.length === 0 ? [] : ["strace", ...strace]), ...program];
  return spawnSync(command, [...args, source, path], { encoding: "utf8" }).stdout;
}

test.skipIf(!hasStrace)(
  "a sync that fails while the log is copied after a commit is no success: nothing is done any more",
  () => {
    expect(writtenBy([])).toBe("ready kept");
    expect(writtenBy(["fsync", "fdatasync"])).toBe("ready database_unusable");
  },
);

test("the log is copied into the file after commits, and begins anew", () => {
  const db = temporaryDatabase();
  db.execute("CREATE TABLE stored (bytes BLOB)");
  const insert = db.prepare("INSERT INTO stored VALUES (randomblob(1048576))");
  for (let count = 0; count < 40; count += 1) db.transactionNow(() => insert.run());
  expect(logBytes(db)).toBeLessThan(20_000_000);
  expect(statSync(db.path).size).toBeGreaterThan(30_000_000);
});
