import { copyFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyLeftLog } from "../../src/database/sqlite/empty-log.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
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
