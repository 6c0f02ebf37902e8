import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createBackupScheduler } from "../../src/database/backup-schedule.ts";
import { createLog } from "../../src/foundation/log.ts";

const HOUR = 3_600_000;

function schedule(everyHours: number | null, keep: number) {
  const directory = mkdtempSync(join(tmpdir(), "formsvc-schedule-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  let now = Date.UTC(2026, 0, 31, 12);
  let failing = false;
  let emptyHanded = false;
  let made = 0;
  const make = (file: string): Promise<void> => {
    if (failing) return Promise.reject(new Error("no space"));
    if (emptyHanded) return Promise.resolve();
    made += 1;
    writeFileSync(file, "");
    return Promise.resolve();
  };
  const settings = { everyHours, keep, directory };
  const scheduler = createBackupScheduler(
    settings,
    directory,
    make,
    { now: () => now },
    createLog("silent", "json"),
  );
  const look = async (hours: number): Promise<number> => {
    now += hours * HOUR;
    scheduler.look();
    await scheduler.settle();
    return made;
  };
  return {
    directory,
    look,
    fail: (value: boolean) => void (failing = value),
    makeNothing: (value: boolean) => void (emptyHanded = value),
  };
}

test("a backup is made when the newest is as old as the interval, also after a restart", async () => {
  const { look } = schedule(24, 10);
  expect(await look(0)).toBe(1);
  expect(await look(23.9)).toBe(1);
  expect(await look(0.1)).toBe(2);
});

test("a failed backup is tried again after ten minutes and removes no older one", async () => {
  const { look, fail, directory } = schedule(1, 1);
  expect(await look(0)).toBe(1);
  fail(true);
  await look(1);
  fail(false);
  expect(await look(0.1)).toBe(1);
  expect(readdirSync(directory)).toHaveLength(1);
  expect(await look(0.1)).toBe(2);
});

test("a backup that ends without a file counts as failed and is tried again", async () => {
  const { look, makeNothing } = schedule(24, 1);
  makeNothing(true);
  expect(await look(0)).toBe(0);
  makeNothing(false);
  expect(await look(0.1)).toBe(0);
  expect(await look(0.1)).toBe(1);
});

test("only the newest backups stay, and nothing else in the folder is touched", async () => {
  const { look, directory } = schedule(1, 2);
  writeFileSync(join(directory, "formsvc.db"), "mine");
  writeFileSync(join(directory, "formsvc-2026-01-31T00-00-00.db.unfinished-12"), "cut off");
  for (let round = 0; round < 4; round += 1) await look(1);
  expect(readdirSync(directory).sort()).toEqual([
    "formsvc-2026-01-31T15-00-00.db",
    "formsvc-2026-01-31T16-00-00.db",
    "formsvc.db",
  ]);
});

test("a clock set back does not hold up the next backup", async () => {
  const { look } = schedule(24, 10);
  await look(0);
  expect(await look(-48)).toBe(2);
});

test("no interval makes no backups", async () => {
  expect(await schedule(null, 1).look(1000)).toBe(0);
});
