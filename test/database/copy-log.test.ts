import { execFileSync } from "node:child_process";
import fs, { statSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLogCopier } from "../../src/database/sqlite/copy-log.ts";
import { type Copied, type LogThread, openLogThread } from "../../src/database/sqlite/open-log-thread.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { createLog } from "../../src/foundation/log.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";
import { until } from "../support/until.ts";

const MEBIBYTE = 1_048_576;
const CHUNK_BYTES = 262_144;

function setUp(open?: typeof openLogThread) {
  const db = temporaryDatabase(10);
  const clock = createFakeClock();
  const lines: string[] = [];
  const log = createLog("warn", { write: (line: string) => void lines.push(line) });
  const copier = createLogCopier({ db, clock, log }, open);
  onTestFinished(() => copier.close());
  db.execute("CREATE TABLE chunk (bytes BLOB NOT NULL)");
  const insert = db.prepare("INSERT INTO chunk VALUES (randomblob(?))");
  /** Commits chunks as a server does, with a turn of the event loop for each. */
  const store = async (bytes: number): Promise<void> => {
    for (let stored = 0; stored < bytes; stored += CHUNK_BYTES) {
      await copier.held();
      db.transactionNow(() => insert.run(CHUNK_BYTES));
      copier.note(CHUNK_BYTES);
      await new Promise(setImmediate);
    }
  };
  return { db, clock, lines, copier, store };
}

/** A thread whose copies end when the test says so. */
function slowThread() {
  const asked: PromiseWithResolvers<Copied>[] = [];
  const thread: LogThread = {
    copy() {
      const copy = Promise.withResolvers<Copied>();
      asked.push(copy);
      return copy.promise;
    },
    settle() {},
    close: () => Promise.resolve(),
  };
  return { asked, open: () => thread };
}

const logBytes = ({ path }: SqliteDatabase): number => statSync(`${path}-wal`).size;
const fileBytes = ({ path }: SqliteDatabase): number => statSync(path).size;

test("what files come to is copied while commits go on, and the log begins anew before it is long", async () => {
  const { db, lines, store } = setUp();
  await store(128 * MEBIBYTE);
  // 12,000 frames, what comes during a copy, and the last part; from 16,000 frames on the event loop helps.
  expect(logBytes(db)).toBeLessThan(72 * MEBIBYTE);
  await until(() => fileBytes(db) > 120 * MEBIBYTE);
  expect(lines).toEqual([]);
  expect(db.pragma("integrity_check")).toBe("ok");
});

test("a server has no thread until 2 MiB of files came", async () => {
  let opened = 0;
  const { store } = setUp((file, descriptor) => {
    opened += 1;
    return openLogThread(file, descriptor);
  });
  await store(MEBIBYTE);
  expect(opened).toBe(0);
  await store(8 * MEBIBYTE);
  expect(opened).toBe(1);
});

test("chunks wait if 8 MiB came while a copy runs, and go on when it ends", async () => {
  const { asked, open } = slowThread();
  const { copier } = setUp(open);
  copier.note(2 * MEBIBYTE);
  copier.note(8 * MEBIBYTE - 1);
  expect(copier.held()).toBeNull();
  copier.note(1);
  const held = copier.held();
  expect(held).not.toBeNull();
  asked[0]?.resolve({ frames: 600, copied: 600 });
  await held;
  expect(copier.held()).toBeNull();
});

test("chunks wait for the last part of a long log, and for no more than a quarter of a second", async () => {
  const { asked, open } = slowThread();
  const { copier } = setUp(open);
  copier.note(2 * MEBIBYTE);
  asked[0]?.resolve({ frames: 12_000, copied: 12_000 });
  await until(() => asked.length === 2);
  const held = copier.held();
  expect(held).not.toBeNull();
  await held;
  expect(copier.held()).toBeNull();
  copier.note(8 * MEBIBYTE);
  expect(copier.held()).toBeNull();
});

test("chunks do not wait for what a reader keeps from being copied, and seldom for a log that does not begin anew", async () => {
  const { asked, open } = slowThread();
  const { copier } = setUp(open);
  const holds = async (copied: Copied): Promise<boolean> => {
    const count = asked.length;
    copier.note(2 * MEBIBYTE);
    asked[count]?.resolve(copied);
    await new Promise(setImmediate);
    if (asked.length === count + 1) return false;
    asked[count + 1]?.resolve(copied);
    await new Promise(setImmediate);
    return true;
  };
  expect(await holds({ frames: 20_000, copied: 100 })).toBe(false);
  expect(await holds({ frames: 20_000, copied: 20_000 })).toBe(true);
  expect(await holds({ frames: 36_000, copied: 36_000 })).toBe(false);
  expect(await holds({ frames: 40_000, copied: 40_000 })).toBe(true);
  expect(await holds({ frames: 600, copied: 600 })).toBe(false);
  expect(await holds({ frames: 12_000, copied: 12_000 })).toBe(true);
});

test("if the thread ends, commits go on, the event loop copies the log, it is said once, and a minute later there is another thread", async () => {
  let isBroken = true;
  const { db, clock, lines, store } = setUp((file, descriptor) =>
    openLogThread(isBroken ? `${file}.none` : file, descriptor),
  );
  await store(24 * MEBIBYTE);
  await until(() => lines.length > 0);
  await store(24 * MEBIBYTE);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { event: "database.log-not-copied", reason: expect.stringContaining("unable to open") as string },
  ]);
  expect(db.logCopy.fromFrames).toBe(4000);
  expect(fileBytes(db)).toBeGreaterThan(16 * MEBIBYTE);
  isBroken = false;
  clock.advance(60_000);
  await store(4 * MEBIBYTE);
  expect(db.logCopy.fromFrames).toBe(16_000);
  await until(() => fileBytes(db) > 48 * MEBIBYTE);
  expect(lines).toHaveLength(1);
});

test("after a thread failed while the clock was ahead, the next one starts as soon as the clock is right", async () => {
  const { asked, open } = slowThread();
  const { clock, copier, lines } = setUp(open);
  clock.advance(365 * DAY_MS);
  copier.note(2 * MEBIBYTE);
  asked[0]?.reject(new Error("no thread"));
  await until(() => lines.length > 0);
  await new Promise(setImmediate);
  copier.note(2 * MEBIBYTE);
  expect(asked).toHaveLength(1);
  clock.advance(-365 * DAY_MS);
  copier.note(2 * MEBIBYTE);
  expect(asked).toHaveLength(2);
});

test("under Litestream, which decides when the log begins anew, no thread copies it", async () => {
  const { asked, open } = slowThread();
  const { db, copier } = setUp(open);
  openForTest(db.path).execute("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  copier.note(2 * MEBIBYTE);
  expect(asked).toEqual([]);
});

test("a copier that is closed has ended its thread and asks for no more copies", async () => {
  const calls = { copy: 0, close: 0 };
  const { db, copier, store } = setUp((file, descriptor) => {
    const thread = openLogThread(file, descriptor);
    return {
      copy: () => ((calls.copy += 1), thread.copy()),
      settle: () => thread.settle(),
      close: () => ((calls.close += 1), thread.close()),
    };
  });
  await store(3 * MEBIBYTE);
  expect(calls.copy).toBeGreaterThan(0);
  await copier.close();
  expect(calls.close).toBe(1);
  // A connection of the thread's would refuse it.
  expect(db.pragma("journal_mode = DELETE")).toBe("delete");
  const before = calls.copy;
  copier.note(4 * MEBIBYTE);
  expect(calls.copy).toBe(before);
  expect(copier.held()).toBeNull();
});

test("a copy has ended only when the file is on the disk, so that the event loop does not have to write it", async () => {
  const { db } = setUp();
  const device = fs.openSync("/dev/null", "r");
  const thread = openLogThread(db.path, device);
  onTestFinished(async () => {
    await thread.close();
    fs.closeSync(device);
  });
  // Nothing but a file can be synced.
  await expect(thread.copy()).rejects.toThrow("EINVAL: invalid argument, fdatasync");
});

test("a thread that copies the log has a lower priority than the event loop", async () => {
  const before = getPriority(process.pid);
  const { store } = setUp();
  await store(3 * MEBIBYTE);
  await until(() => priorities().includes(before + 5));
  expect(getPriority(process.pid)).toBe(before);
});

/** The nice values of the threads of this process; see proc_pid_stat(5). */
function priorities(): number[] {
  return fs.readdirSync("/proc/self/task").map((thread) => {
    const stat = fs.readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });
}

test("when a copier is closed, the database keeps its locks: another process that closes it leaves the log", async () => {
  const { db, copier, store } = setUp();
  await store(3 * MEBIBYTE);
  await copier.close();
  const script = `const db = new (require("better-sqlite3"))(${JSON.stringify(db.path)}); db.prepare("SELECT count(*) FROM chunk").get(); db.close()`;
  execFileSync(process.execPath, ["-e", script]);
  expect(fs.existsSync(`${db.path}-wal`)).toBe(true);
});

test("the event loop copies what posts bring while chunks wait, and not what is left if those waited too long", async () => {
  const { asked, open } = slowThread();
  const { db, copier } = setUp(open);
  const copyLongLog = async (whileHeld: () => unknown): Promise<void> => {
    const count = asked.length;
    copier.note(2 * MEBIBYTE);
    asked[count]?.resolve({ frames: 12_000 * (count + 1), copied: 12_000 * (count + 1) });
    await until(() => asked.length === count + 2);
    await whileHeld();
    asked[count + 1]?.resolve({ frames: 12_000, copied: 12_000 });
    await new Promise(setImmediate);
  };
  const post = (): unknown =>
    db.transactionNow(() => db.prepare("INSERT INTO chunk VALUES (randomblob(1000000))").run());
  await copyLongLog(post);
  const copied = fileBytes(db);
  expect(copied).toBeGreaterThan(MEBIBYTE * 0.9);
  await copyLongLog(async () => {
    post();
    await copier.held();
  });
  expect(fileBytes(db)).toBe(copied);
});

test("what a chunk brings is written to the disk beside the event loop, in one call at a time, and a failure costs nothing", async () => {
  const { db, lines, store } = setUp();
  const calls: (() => void)[] = [];
  const spy = vi.spyOn(fs, "fdatasync").mockImplementation((_file, done) => {
    calls.push(() => done(new Error("EIO")));
  });
  onTestFinished(() => spy.mockRestore());
  await store(3 * CHUNK_BYTES);
  expect(calls).toHaveLength(1);
  calls[0]?.();
  await until(() => calls.length === 2);
  calls[1]?.();
  await new Promise(setImmediate);
  expect(calls).toHaveLength(2);
  expect(lines).toEqual([]);
  expect(db.prepare("SELECT count(*) FROM chunk").pluck().get()).toBe(3);
});
