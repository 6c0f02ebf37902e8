import { statSync } from "node:fs";
import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { createLogCleaner } from "../../src/database/sqlite/empty-log.ts";
import { NO_COPIER } from "../support/batch-world.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";

const logBytes = ({ path }: SqliteDatabase): number => statSync(`${path}-wal`).size;
const write = (db: SqliteDatabase): void =>
  db.execute("UPDATE settings_version SET version = version + 1 WHERE id = 1");

test("the log is emptied after something was deleted, and not for anything else", () => {
  const db = temporaryDatabase();
  const cleaner = createLogCleaner(db, NO_COPIER);
  cleaner.clean();
  expect(logBytes(db)).toBe(0);
  write(db);
  cleaner.note(0);
  cleaner.clean();
  expect(logBytes(db)).toBeGreaterThan(0);
  cleaner.note(1);
  cleaner.clean();
  expect(logBytes(db)).toBe(0);
});

test("a log that a reader keeps is emptied once that has ended, and the server does not wait for it", () => {
  const db = temporaryDatabase(10);
  const reader = openForTest(db.path);
  const cleaner = createLogCleaner(db, NO_COPIER);
  reader.execute("BEGIN; SELECT count(*) FROM submission");
  write(db);
  // Most connections would wait five seconds for it.
  const startedAt = performance.now();
  cleaner.clean();
  expect(performance.now() - startedAt).toBeLessThan(4000);
  expect(logBytes(db)).toBeGreaterThan(0);
  reader.execute("COMMIT");
  cleaner.clean();
  expect(logBytes(db)).toBe(0);
});

test("a copy of the log that runs is waited for before the log is emptied, because it would not let it", () => {
  const db = temporaryDatabase(10);
  const other = openForTest(db.path);
  other.execute("BEGIN; SELECT count(*) FROM submission");
  write(db);
  const cleaner = createLogCleaner(db, { settle: () => other.execute("COMMIT") });
  cleaner.note(1);
  cleaner.clean();
  expect(logBytes(db)).toBe(0);
});
