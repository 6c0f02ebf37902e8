import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { type OperatorMachine, emptyMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";
import { pdf } from "../support/uploads.ts";
import { followDurability } from "./durability.ts";
import { extent, isShort, PATIENCE_MS, report, sayMissing } from "./extent.ts";
import { seededRandom } from "./seeded-random.ts";
import { countUp, hasFile, type Post, type Poster, type PosterTarget, startPosting } from "./poster.ts";
import { createNumberEndpoint, type FaultServer, freePort, numberSchema, startServer } from "./server.ts";
import { checkContent, checkStored, type Stored } from "./stored.ts";
import { type CallEvent, hasStrace, readCalls, recordWrites } from "./system-calls.ts";

const CONNECTIONS = 16;
/** Beside posts, chunks of files have a pace: more connections only add posts to the record. */
const FORM_CONNECTIONS = isShort ? 4 : 16;
/** Posts recorded after the log was begun anew. */
const RECORDED_POSTS = isShort ? 60 : 1000;
/** What makes a post some fifteen pages, so that a log of 4,000 pages is soon carried over. */
const FILLING = Array.from({ length: 6000 }, (_, index) => 100_000_000 + index);
const CUT_POSTS = isShort ? 120 : 1500;
/** Every fifth has a file of three chunks, some 150 frames. */
const FORM_POSTS = isShort ? 20 : 150;
/** The same of posts of which every fifth has a file. */
const FILE_POSTS = isShort ? 30 : 400;

if (!hasStrace) sayMissing("nothing is proved about power loss without strace", "apt-get install strace");

test("a breach of the order is seen: an answer before the sync, or before the commit that covers it", async () => {
  const id = `sub_${"0".repeat(26)}`;
  const event = (phase: "begin" | "end", name: string, path: string, bytes: Buffer): CallEvent => {
    return { phase, name, path, bytes, offset: 0, result: 0 };
  };
  const header = (size: number): Buffer => {
    const bytes = Buffer.alloc(24);
    bytes.writeUInt32BE(size, 4);
    return bytes;
  };
  const none = Buffer.alloc(0);
  const page = { ...event("begin", "pwrite64", "/x.db-wal", Buffer.from(`page ${id}`)), offset: 56 };
  const commit = { ...event("begin", "pwrite64", "/x.db-wal", header(9)), offset: 32 };
  const partial = { ...event("begin", "pwrite64", "/x.db-wal", header(0)), offset: 32 };
  const syncs = event("begin", "fsync", "/x.db-wal", none);
  const sync = { ...syncs, phase: "end" as const, begun: syncs };
  const answer = event("begin", "write", "socket:[1]", Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${id}`));
  const breaches = async (...calls: CallEvent[]): Promise<number> =>
    (await followDurability(calls, "/x.db")).breaches.length;
  expect(await breaches(commit, page, syncs, sync, answer)).toBe(0);
  expect(await breaches(commit, page, syncs, answer, sync)).toBe(1);
  expect(await breaches(partial, page, syncs, sync, answer)).toBe(1);
  expect(await breaches(commit, page, syncs, { ...sync, result: -1 }, answer)).toBe(1);
  // One that another thread began before the commit does not cover it.
  expect(await breaches(syncs, commit, page, sync, answer)).toBe(1);
  const restart = { ...commit, bytes: Buffer.alloc(32), offset: 0 };
  const takeover = event("begin", "pwrite64", "/x.db", Buffer.from("page"));
  const copies = { ...syncs, path: "/x.db" };
  expect(await breaches(takeover, copies, { ...sync, begun: copies }, restart)).toBe(0);
  expect(await breaches(copies, takeover, { ...sync, begun: copies }, restart)).toBe(1);
  expect(await breaches(takeover, restart)).toBe(1);
});

describe.skipIf(!hasStrace)("recorded under load", { timeout: PATIENCE_MS }, () => {
  test("every 200 leaves after the sync that covers it, and the log only restarts over a durable database", async () => {
    const machine = emptyMachine();
    const { server, poster, calls } = await record(machine, RECORDED_POSTS, {
      filling: FILLING,
      startsAnew: true,
    });
    expect(await server.end("SIGTERM")).toBe(0);
    const followed = await followDurability(calls, machine.database);
    expect(followed.breaches).toEqual([]);
    const acknowledged = acknowledgedIds(poster.posts);
    expect([...followed.coveredBytes.keys()].sort()).toEqual(acknowledged.sort());
    expect(followed.checkpoints).toBeGreaterThan(0);
    expect(followed.restarts).toBeGreaterThan(0);
    report("order of system calls", {
      acknowledged: acknowledged.length,
      syncs: followed.syncs,
      checkpoints: followed.checkpoints,
      breaches: 0,
    });
  });

  test("while a thread copies the log of forms with files, every 200 leaves after its sync, and the log only restarts over a durable database", async () => {
    const machine = emptyMachine();
    const fileOf = (n: number): Buffer => pdf(isShort ? 4_000_000 : 1_000_000, String(n));
    const { server, poster, calls } = await record(machine, FILE_POSTS, { fileOf, startsAnew: true });
    expect(await server.end("SIGKILL")).toBeNull();
    const followed = await followDurability(calls, machine.database);
    expect(followed.breaches).toEqual([]);
    const acknowledged = acknowledgedIds(poster.posts);
    expect([...followed.coveredBytes.keys()].sort()).toEqual(acknowledged.sort());
    expect(followed.restarts).toBeGreaterThan(0);
    const stored = checkStored(machine.database);
    const kept = new Set(stored.ids);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(stored.withFile).toEqual(expect.arrayContaining(acknowledgedIds(poster.posts.filter(hasFile))));
    report("order of system calls with files", { acknowledged: acknowledged.length, breaches: 0 });
  });

  test("wherever the log is cut, what is left is whole and holds all that was acknowledged before", async () => {
    const { cuts } = await cutLog(CUT_POSTS, { whichFrames: () => true });
    expect(cuts.acknowledged).toBeGreaterThan(0);
    report("power loss", cuts);
  });

  test("wherever the log of forms with files is cut, each that was acknowledged before has all its bytes, and no byte is left of others", async () => {
    const { cuts, posts, whole } = await cutLog(FORM_POSTS, {
      whichFrames: isNearCommit,
      fileOf: (n) => pdf(600_000, String(n)),
    });
    const acknowledged = acknowledgedIds(posts.filter(hasFile));
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(whole.withFile.toSorted()).toEqual(acknowledged.toSorted());
    report("power loss with files", { ...cuts, files: acknowledged.length });
  });
});

interface Cutting {
  readonly fileOf?: (n: number) => Buffer;
  /** The frames after which the log is cut. */
  readonly whichFrames: (log: WholeLog, frame: number) => boolean;
}

/** Records posts, and opens the database with the log cut in many places. */
async function cutLog(count: number, { fileOf, whichFrames }: Cutting) {
  const machine = emptyMachine();
  const base = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "formsvc-cuts-"));
  try {
    const { server, calls, poster, release } = await record(machine, count, {
      ...(fileOf !== undefined && { fileOf }),
      prepare() {
        const held = holdLog(machine.database);
        copyFileSync(machine.database, join(base, "base.db"));
        return held;
      },
    });
    const bytes = readFileSync(`${machine.database}-wal`);
    await server.end("SIGKILL");
    release();
    const { coveredBytes } = await followDurability(calls, machine.database);
    expect(coveredBytes.size).toBe(acknowledgedIds(poster.posts).length);
    const log = { bytes, frameBytes: 24 + bytes.readUInt32BE(8) };
    const cuts = replayCuts(base, log, { coveredBytes, whichFrames });
    const figures = { ...cuts, acknowledged: coveredBytes.size, "log bytes": bytes.length };
    return { cuts: figures, posts: poster.posts, whole: openCuts(base, log)(bytes) };
  } finally {
    rmSync(base, { recursive: true });
  }
}

/** Of the frames of a transaction those in its middle are one as good as the other. */
function isNearCommit({ bytes, frameBytes }: WholeLog, frame: number): boolean {
  return [frame - 1, frame, frame + 1].some((each) => {
    // The frame before the cut of this number.
    const at = LOG_HEADER_BYTES + (each - 1) * frameBytes;
    return at >= LOG_HEADER_BYTES && at + frameBytes <= bytes.length && bytes.readUInt32BE(at + 4) !== 0;
  });
}

interface Recording {
  readonly server: FaultServer;
  readonly poster: Poster;
  /** Read as they are followed; once. */
  readonly calls: AsyncIterable<CallEvent>;
  readonly release: () => void;
}

interface Recorded extends Pick<PosterTarget, "filling" | "fileOf"> {
  readonly prepare?: () => () => void;
  /** Posts until the log is begun anew, and counts from there. */
  readonly startsAnew?: boolean;
}

/** Posts `count` numbers to a server while its calls are recorded; it still runs afterwards, with nothing to do. */
async function record(
  machine: OperatorMachine,
  count: number,
  { prepare = () => () => {}, startsAnew = false, ...carried }: Recorded,
): Promise<Recording> {
  const schema = { ...numberSchema, filling: { type: "array" }, cv: { type: "file" } };
  const { secret } = await createNumberEndpoint(machine, schema);
  // Its failing deliveries are written between the posts, and durable only with the next of these.
  const nobody = `http://127.0.0.1:${await freePort()}/`;
  await machine.json(["webhook", "create", "--endpoint", "Numbers", "--url", nobody, "--allow-private"]);
  const env = { FORMSVC_FILES_MIN_FREE_BYTES: "0" };
  const server = await startServer(machine, await freePort(), { env });
  const release = prepare();
  const file = machine.path("calls");
  const tracing = await recordWrites(server.pid, file);
  const poster = startPosting(
    { port: server.port, key: secret, ...carried },
    carried.fileOf ? FORM_CONNECTIONS : CONNECTIONS,
    countUp(),
  );
  const log = saltOf(machine.database);
  if (startsAnew) await until(() => saltOf(machine.database) !== log);
  const before = poster.posts.length;
  await until(() => poster.posts.length >= before + count);
  await poster.stop();
  await tracing.stop();
  return { server, poster, calls: readCalls(file), release };
}

/** What tells a log of a database from the one before it in the same file. */
function saltOf(database: string): string {
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  const log = openSync(`${database}-wal`, "r");
  readSync(log, header, 0, header.length, 0);
  closeSync(log);
  return header.toString("latin1", 16, 24);
}

/** A reader whose view is never moved, so that the log only grows and the database stays as it is. */
function holdLog(database: string): () => void {
  const reader = new SqliteDatabase(database, { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM submission").get();
  return () => reader.close();
}

function acknowledgedIds(posts: readonly Post[]): string[] {
  return posts.map(({ id }) => id).filter((id) => id !== null);
}

const LOG_HEADER_BYTES = 32;
const SECTOR_BYTES = 512;
/** In the index of a log, which SQLite keeps in the order of the processor's bytes. */
const LAST_FRAME_AT = 16;

interface WholeLog {
  readonly bytes: Buffer;
  readonly frameBytes: number;
}

/**
 * Opens the database with the log cut at frames and at random bytes, and with random sectors lost of what no sync
 * had covered, as a disk that loses power may leave it.
 */
function replayCuts(
  folder: string,
  log: WholeLog,
  {
    coveredBytes,
    whichFrames,
  }: Pick<Cutting, "whichFrames"> & { readonly coveredBytes: ReadonlyMap<string, number> },
): Record<string, number> {
  const random = seededRandom(20_260_117);
  const { bytes, frameBytes } = log;
  const open = openCuts(folder, log);
  const order = open(bytes).ids;
  const frames = Math.floor((bytes.length - LOG_HEADER_BYTES) / frameBytes);
  const atFrames = Array.from({ length: frames + 1 }, (_, index) => index)
    .filter((frame) => whichFrames(log, frame))
    .map((frame) => LOG_HEADER_BYTES + frame * frameBytes);
  const atRandom = Array.from({ length: extent.randomCuts }, () => Math.floor(random() * (bytes.length + 1)));
  const syncedEnds = [...new Set(coveredBytes.values())].sort((a, b) => a - b);
  const check = (cut: number, content: Buffer): void => {
    const { ids } = open(content);
    expect(ids.join()).toBe(order.slice(0, ids.length).join());
    const kept = new Set(ids);
    const lost = [...coveredBytes].filter(([id, covered]) => covered <= cut && !kept.has(id));
    expect({ cut, lost }).toEqual({ cut, lost: [] });
  };
  // From the longest to the shortest, so that each is what is left when the one before is cut.
  for (const cut of [...atFrames, ...atRandom].toSorted((a, b) => b - a)) check(cut, bytes.subarray(0, cut));
  for (const cut of atRandom) {
    const synced = syncedEnds.findLast((end) => end <= cut) ?? 0;
    check(cut, loseSectors(bytes.subarray(0, cut), synced, random));
  }
  expect(open(bytes.subarray(0, 0)).ids).toEqual([]);
  return {
    "cuts at frames": atFrames.length,
    "at random bytes": atRandom.length,
    "with lost sectors": atRandom.length,
  };
}

/**
 * Returns what gives for a log what a server would find, its ids in the order of commits, after everything was proved whole. SQLite
 * recovers each log. What it takes of two of them is proved once if it is the same, to the byte, as of the whole log.
 */
function openCuts(folder: string, { bytes, frameBytes }: WholeLog): (log: Buffer) => Stored {
  const path = join(folder, "base.db");
  const proved = new Map<number, Stored>();
  let written: Buffer = NOTHING;
  return (log) => {
    // To cut a file costs a fraction of what it costs to write it again.
    if (isBeginning(log, written)) truncateSync(`${path}-wal`, log.length);
    else writeFileSync(`${path}-wal`, log);
    written = log;
    // Who only reads leaves the database as it is.
    const db = new SqliteDatabase(path, { readonly: true });
    try {
      const frames = recover(db);
      const end = frames === 0 ? 0 : LOG_HEADER_BYTES + frames * frameBytes;
      if (!log.subarray(0, end).equals(bytes.subarray(0, end))) return checkContent(db);
      const known = proved.get(frames) ?? checkContent(db);
      proved.set(frames, known);
      return known;
    } finally {
      db.close();
      rmSync(`${path}-shm`, { force: true });
    }
  };
}

/** Whether one is the beginning of the other, in the same memory. */
function isBeginning(log: Buffer, whole: Buffer): boolean {
  return log.buffer === whole.buffer && log.byteOffset === whole.byteOffset && log.length <= whole.length;
}

const NOTHING = Buffer.alloc(0);

/** Has SQLite recover the log; the number of the last frame that it took. */
function recover(db: SqliteDatabase.Database): number {
  db.prepare("SELECT 1 FROM sqlite_schema").get();
  return readFileSync(`${db.name}-shm`).readUInt32LE(LAST_FRAME_AT);
}

/** Sectors are written whole or not at all, in any order, until a sync has returned. */
function loseSectors(log: Buffer, durableBytes: number, random: () => number): Buffer {
  const left = Buffer.from(log);
  for (let at = Math.ceil(durableBytes / SECTOR_BYTES) * SECTOR_BYTES; at < left.length; at += SECTOR_BYTES) {
    if (random() < 0.5) left.fill(0, at, Math.min(at + SECTOR_BYTES, left.length));
  }
  return left;
}
