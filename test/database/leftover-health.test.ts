import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { checkLeftovers } from "../../src/database/sqlite/leftover-health.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** Above what any system gives to a process. */
const NOBODY = 2 ** 30;

function databaseWith(names: readonly string[]): {
  db: SqliteDatabase;
  backups: string;
  path: (name: string) => string;
} {
  const db = temporaryDatabase();
  const folder = dirname(db.path);
  const backups = join(folder, "backups");
  mkdirSync(backups);
  for (const name of names) writeFileSync(join(folder, name), "x".repeat(1000), { mode: 0o600 });
  return { db, backups, path: (name) => join(folder, name) };
}

test("kept copies are counted and not found fault with for thirty days, and are then to be removed", () => {
  const kept = ["formsvc.db.schema-4", "formsvc.db.replaced-2026-01-31T03-00-00.000Z"];
  const { db, backups, path } = databaseWith(kept);
  expect(checkLeftovers(db, backups, Date.now() + 29 * DAY_MS)).toMatchObject({
    ok: true,
    message: expect.stringMatching(/^2 kept or unfinished files of 1 MiB, the oldest from .*may be removed/),
  });
  const { ok, advice } = checkLeftovers(db, backups, Date.now() + 31 * DAY_MS);
  expect(ok).toBe(false);
  for (const name of kept) expect(advice).toContain(path(name));
});

test("what a process left unfinished is to be removed once it is gone, beside the database and among the backups", () => {
  const names = [
    `formsvc.db.restore-${NOBODY}`,
    `by-hand.db.unfinished-${NOBODY}-journal`,
    `backups/formsvc-2026-01-31T03-00-00.db.unfinished-${NOBODY}`,
  ];
  const { db, backups, path } = databaseWith([...names, `formsvc.db.restore-${process.pid}`]);
  const { ok, advice } = checkLeftovers(db, backups, Date.now());
  expect(ok).toBe(false);
  expect((advice as string).match(/\S+(?:restore|unfinished)-\S+/g)?.sort()).toEqual(names.map(path).sort());
  expect(checkLeftovers(db, backups, Date.now() + 2 * DAY_MS).advice).toContain(`restore-${process.pid}`);
});

test.skipIf(process.platform === "win32")("a kept copy that others may read is to be closed", () => {
  const { db, backups, path } = databaseWith(["formsvc.db.schema-4"]);
  chmodSync(path("formsvc.db.schema-4"), 0o640);
  const { ok, advice } = checkLeftovers(db, backups, Date.now());
  expect([ok, advice]).toEqual([false, `others may read: chmod 600 ${path("formsvc.db.schema-4")}`]);
});

test("what lies beside the file that a symbolic link leads to is found, and other files are nobody's business", () => {
  const { db, backups, path } = databaseWith([
    "formsvc.db.notes",
    "other.db.schema-1",
    "formsvc.db.schemata-1",
  ]);
  expect(checkLeftovers(db, backups, Date.now()).message).toContain("no copies were kept");
  writeFileSync(path("formsvc.db.schema-3"), "", { mode: 0o600 });
  db.close();
  mkdirSync(path("elsewhere"));
  symlinkSync(db.path, path("elsewhere/linked.db"));
  const linked = openForTest(path("elsewhere/linked.db"));
  expect(checkLeftovers(linked, backups, Date.now()).message).toMatch(/^1 kept/);
});
