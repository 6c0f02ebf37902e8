import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { backupFolder } from "../../src/database/sqlite/backup-folder.ts";
import { checkBackupAge, createBackupScheduler } from "../../src/database/sqlite/backup-schedule.ts";
import { silentLog } from "../support/silent-log.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

/** The folder of the backups of a database that lies in it, or has an absolute path. */
function folderOf(directory: string, database = "formsvc.db") {
  return backupFolder({ directory }, resolve(directory, database));
}

function schedule(
  everyHours: number | null,
  keep: number,
  database = "formsvc.db",
  directory = temporaryFolder(),
) {
  const clock = createFakeClock(Date.UTC(2026, 0, 31, 12));
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
  const scheduler = createBackupScheduler({
    settings,
    folder: folderOf(directory, database),
    make,
    clock,
    log: silentLog,
  });
  const look = async (hours: number): Promise<number> => {
    clock.advance(hours * HOUR_MS);
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

test("a backup that failed while the clock was ahead is tried again as soon as the clock is right", async () => {
  const { look, fail } = schedule(24, 10);
  fail(true);
  await look(365 * 24);
  fail(false);
  expect(await look(-365 * 24)).toBe(1);
});

test("one backup from a clock that was wrong causes no further ones and removes no good one", async () => {
  const { look, directory } = schedule(24, 2);
  const future = "formsvc-2026-03-02T12-00-00.db";
  writeFileSync(join(directory, future), "");
  for (let minute = 0; minute < 5; minute += 1) expect(await look(1 / 60)).toBe(1);
  expect(await look(24)).toBe(2);
  expect(await look(24)).toBe(3);
  expect(readdirSync(directory).sort()).toEqual([
    "formsvc-2026-02-01T12-05-00.db",
    "formsvc-2026-02-02T12-05-00.db",
    future,
  ]);
});

test("a backup from the future is named and does not stand for a new one", () => {
  const directory = temporaryFolder();
  const settings = { everyHours: 24, keep: 2, directory };
  const now = Date.UTC(2026, 0, 31, 12);
  const future = join(directory, "formsvc-2026-03-02T12-00-00.db");
  writeFileSync(future, "");
  const alone = checkBackupAge(settings, folderOf(directory), now);
  expect(alone.ok).toBe(false);
  expect(alone.message).toContain(future);
  writeFileSync(join(directory, "formsvc-2026-01-31T10-00-00.db"), "");
  const beside = checkBackupAge(settings, folderOf(directory), now);
  expect(beside.ok).toBe(true);
  expect(beside.message).toMatch(/^the newest is 2 hours old: .*T10-00-00\.db; dated in the future/);
  expect(beside.message).toContain(future);
});

test("no interval makes no backups", async () => {
  expect(await schedule(null, 1).look(1000)).toBe(0);
});

test("databases in one folder make and remove their own backups alone, whatever their names have in common", async () => {
  const directory = temporaryFolder();
  const names = ["formsvc.db", "forms.db", "more.forms.db", "forms"];
  for (const name of names) for (const end of ["", "-serve"]) writeFileSync(join(directory, name + end), "");
  const schedules = names.map((name, nth) => schedule(1, nth === 0 ? 1 : 3, name, directory));
  for (const { look } of schedules.slice(1)) await look(0);
  writeFileSync(join(directory, "formsvc-2026-01-31T15-00-00.forms.db.unfinished-12"), "being made");
  for (let round = 0; round < 3; round += 1) expect(await schedules[0]?.look(1)).toBe(round + 1);
  const made = readdirSync(directory).filter((name) => name.startsWith("formsvc-"));
  expect(made.sort()).toEqual([
    "formsvc-2026-01-31T12-00-00.forms",
    "formsvc-2026-01-31T12-00-00.forms.db",
    "formsvc-2026-01-31T12-00-00.more.forms.db",
    "formsvc-2026-01-31T15-00-00.db",
    "formsvc-2026-01-31T15-00-00.forms.db.unfinished-12",
  ]);
});

test("databases of one name in different folders make, count and remove their own backups alone in a folder that they share", async () => {
  const directory = join(temporaryFolder(), "shared", "backups");
  mkdirSync(directory, { recursive: true });
  const earlier = "formsvc-2026-01-31T11-59-00.db";
  writeFileSync(join(directory, earlier), "of one of them");
  const [one, other] = [temporaryFolder(), temporaryFolder()].map((folder) =>
    schedule(1, 2, join(folder, "formsvc.db"), directory),
  );
  for (let round = 0; round < 3; round += 1)
    for (const each of [one, other]) expect(await each?.look(1)).toBe(round + 1);
  const marks = readdirSync(directory)
    .filter((name) => name !== earlier)
    .map((name) => /^formsvc-2026-01-31T1[45]-00-00\.([\da-f]{8})\.db$/.exec(name)?.[1]);
  expect(marks).toHaveLength(4);
  expect(new Set(marks).size).toBe(2);
  expect(existsSync(join(directory, earlier))).toBe(true);
});

test("doctor names a backup of an earlier version that is not counted, because another database may have made it", () => {
  const [directory, folder] = [temporaryFolder(), temporaryFolder()];
  const earlier = join(directory, "formsvc-2026-01-31T11-00-00.db");
  writeFileSync(earlier, "");
  const own = backupFolder({ directory }, join(folder, "formsvc.db"));
  const { ok, message } = checkBackupAge({ everyHours: 24 }, own, Date.UTC(2026, 0, 31, 12));
  expect(ok).toBe(false);
  expect(message).toContain(earlier);
});

test("a folder of backups is the same by each path of the database's folder", () => {
  const [directory, folder] = [temporaryFolder(), temporaryFolder()];
  const link = join(temporaryFolder(), "link");
  symlinkSync(folder, link);
  const [one, other] = [folder, link].map(
    (path) => backupFolder({ directory }, join(path, "formsvc.db")).end,
  );
  expect(one).toBe(other);
});

test("the backups that a database has from an earlier version count and are removed, unless another one may have made them", async () => {
  const made = (directory: string) => readdirSync(directory).filter((name) => name.startsWith("formsvc-"));
  const older = ["formsvc-2026-01-31T11-00-00.db", "formsvc-2026-01-31T11-30-00.db"];
  const alone = schedule(1, 1, "forms.db");
  for (const name of [...older, "forms.db-serve"]) writeFileSync(join(alone.directory, name), "");
  expect(await alone.look(0)).toBe(0);
  expect(await alone.look(0.5)).toBe(1);
  expect(made(alone.directory)).toEqual(["formsvc-2026-01-31T12-30-00.forms.db"]);

  const beside = schedule(1, 1, "forms.db");
  for (const name of [...older, "other.db", "other.db-serve"])
    writeFileSync(join(beside.directory, name), "");
  expect(await beside.look(0)).toBe(1);
  expect(made(beside.directory).sort()).toEqual([...older, "formsvc-2026-01-31T12-00-00.forms.db"].sort());
});
