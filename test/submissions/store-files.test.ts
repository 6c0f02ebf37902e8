import { describe, expect, test } from "vitest";
import type { TakenFiles } from "../../src/files/file-room.ts";
import { dropLostFiles } from "../../src/files/file-store.ts";
import { listFiles } from "../../src/files/read-file.ts";
import { newId } from "../../src/foundation/id.ts";
import { createCommitQueue } from "../../src/submissions/commit/commit-batch.ts";
import { storeFiles } from "../../src/submissions/receive/store-files.ts";
import { addPlace, batchServer } from "../support/batch-world.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { until } from "../support/until.ts";
import { fileStoring, pdf, sha256, uploadingTo } from "../support/uploads.ts";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";

function idsOf(taken: TakenFiles | null): string[] {
  return taken?.files.map(({ id }) => id) ?? [];
}

function fileOf(bytes: Buffer) {
  const facts = {
    id: newId("fil", NOON),
    name: "cv.pdf",
    size: bytes.length,
    type: "application/pdf",
    sha256: sha256(bytes),
  };
  const source = {
    size: bytes.length,
    read: async (offset: number, length: number) => bytes.subarray(offset, offset + length),
  };
  return { facts, source };
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function setUp() {
    const db = await temporary();
    const server = batchServer(db);
    const place = await addPlace(db);
    const parts = fileStoring(db, server.queue);
    const at = { uploading: uploadingTo(place.endpointId), createdAt: NOON };
    const counts = async () => {
      const [row] = await rowsOf<{ files: number; chunks: number; totals: number }>(
        db,
        `SELECT (SELECT count(*) FROM file) AS files, (SELECT count(*) FROM file_chunk) AS chunks,
          (SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM file_total) AS totals`,
      );
      return row;
    };
    return { db, server, place, parts, at, counts };
  }

  test("files are listed newest first, those of the wanted endpoints alone, page by page", async () => {
    const { db, server, place, parts, at } = await setUp();
    const ids: string[] = [];
    for (const size of [10, 20, 30]) {
      const file = fileOf(pdf(size + 100));
      const fileIds = idsOf(await storeFiles(parts, [file], at));
      await server.queue.add({ ...place.pending(), fileIds });
      ids.unshift(...fileIds);
    }
    ids.sort().reverse();
    const listed = async (endpointIds: readonly string[] | null, before: string | null, limit: number) =>
      (await db.read(() => listFiles({ endpointIds, submissionId: null, before, limit }))).map(
        ({ id }) => id,
      );
    const own = [newId("ep", NOON), place.endpointId];
    expect(await listed(own, null, 2)).toEqual(ids.slice(0, 2));
    expect(await listed(own, ids[1] ?? "", 2)).toEqual(ids.slice(2));
    expect(await listed(own.slice(0, 1), null, 2)).toEqual([]);
    expect(await listed(null, null, 9)).toEqual(ids);
  });

  test("the last commit gives a file to its submission, whole", async () => {
    const { db, server, place, parts, at, counts } = await setUp();
    const bytes = pdf(700_000);
    const file = fileOf(bytes);
    const fileIds = idsOf(await storeFiles(parts, [file], at));
    expect(await counts()).toEqual({ files: 1, chunks: 3, totals: 700_000 });
    expect(await server.queue.add({ ...place.pending(), fileIds })).toBe("stored");
    const rows = await rowsOf<{ state: string; bytes: Buffer }>(
      db,
      `SELECT state, bytes FROM file JOIN file_chunk ON file_id = file.id
        JOIN submission ON submission.id = file.submission_id ORDER BY position`,
    );
    expect(rows.map(({ state }) => state)).toEqual(["stored", "stored", "stored"]);
    expect(sha256(Buffer.concat(rows.map(({ bytes: part }) => part)))).toBe(file.facts.sha256);
  });

  test("a submission whose file lacks a chunk is not stored", async () => {
    const { db, server, place, parts, at } = await setUp();
    const fileIds = idsOf(await storeFiles(parts, [fileOf(pdf(700_000))], at));
    await write(db, "DELETE FROM file_chunk WHERE position = 1");
    expect(await server.queue.add({ ...place.pending(), fileIds })).toBe("incomplete");
    expect(await rowsOf(db, "SELECT id FROM submission")).toEqual([]);
  });

  test("what a process left that ended between two chunks is deleted after an hour, in short transactions, and not before", async () => {
    const { db, parts, at, counts } = await setUp();
    await storeFiles(parts, [fileOf(pdf(20 * 262_144))], at);
    expect(await db.transaction(() => dropLostFiles(NOON + HOUR_MS))).toBe(0);
    const rounds: number[] = [];
    const later = NOON + HOUR_MS + 1;
    for (let dropped = 1; dropped > 0; rounds.push(dropped))
      dropped = await db.transaction(() => dropLostFiles(later));
    expect(rounds).toEqual([16, 5, 0]);
    expect(await counts()).toEqual({ files: 0, chunks: 0, totals: 0 });
  });

  test("a submission that is deleted takes its files along", async () => {
    const { db, server, place, parts, at, counts } = await setUp();
    const fileIds = idsOf(await storeFiles(parts, [fileOf(pdf(300_000))], at));
    await server.queue.add({ ...place.pending(), fileIds });
    expect(await db.transaction(() => dropLostFiles(NOON + DAY_MS))).toBe(0);
    await write(db, "DELETE FROM submission");
    while ((await db.transaction(() => dropLostFiles(NOON))) > 0);
    expect(await counts()).toEqual({ files: 0, chunks: 0, totals: 0 });
  });

  test("each commit takes one chunk at most, however many wait, and posts go with the next one", async () => {
    const { db, place, at } = await setUp();
    const seen: [posts: number, hasChunk: boolean][] = [];
    const { write: store } = batchServer(db);
    const observed: typeof store = (batch, chunk) => {
      seen.push([batch.length, chunk !== undefined]);
      return store(batch, chunk);
    };
    const queue = createCommitQueue(Object.assign(observed, store));
    const parts = fileStoring(db, queue);
    const uploads = Array.from({ length: 3 }, () => storeFiles(parts, [fileOf(pdf(500_000))], at));
    await queue.add(place.pending());
    await Promise.all(uploads);
    expect(seen.filter(([, hasChunk]) => hasChunk)).toHaveLength(6);
    // The post is with or right after the first chunk.
    expect(seen.slice(0, 2).map(([posts]) => posts)).toContain(1);
  });
});

/** A queue on SQLite, what its transactions hold, and a gate for chunks. */
async function setUpTurns() {
  const db = temporaryDatabase(10);
  const { write: store } = batchServer(db);
  const place = await addPlace(db);
  const seen: string[] = [];
  const gate: { closed: PromiseWithResolvers<void> | null } = { closed: null };
  const observed: typeof store = (batch, chunk) => {
    seen.push(chunk === undefined ? "posts" : batch.length === 0 ? "chunk" : "both");
    return store(batch, chunk);
  };
  const heldChunks = (): Promise<void> | null => gate.closed?.promise ?? null;
  const queue = createCommitQueue(Object.assign(observed, { heldChunks }));
  const at = { uploading: uploadingTo(place.endpointId), createdAt: NOON };
  const upload = () => storeFiles(fileStoring(db, queue), [fileOf(pdf(1_000_000))], at);
  return { seen, gate, upload, post: () => queue.add(place.pending()) };
}

test("on SQLite no post waits for bytes of a file in its commit, and neither posts nor files keep the others from going on", async () => {
  const { seen, upload, post } = await setUpTurns();
  const state = { isStored: false };
  const stored = upload().then(() => (state.isStored = true));
  // There is always a post that waits.
  const posting = Array.from({ length: 2 }, async () => {
    while (!state.isStored) await post();
  });
  await stored;
  await Promise.all(posting);
  expect(seen).not.toContain("both");
  const turns = seen.slice(seen.indexOf("chunk"), seen.lastIndexOf("chunk") + 1);
  expect(turns.filter((kind) => kind === "chunk")).toHaveLength(4);
  expect(turns.join()).not.toContain("chunk,chunk");
});

test("while chunks have to wait for the log, posts go on, and the chunks do when it is over", async () => {
  const { seen, gate, upload, post } = await setUpTurns();
  gate.closed = Promise.withResolvers();
  const stored = upload();
  await until(async () => (await post()) === "stored" && seen.length >= 3);
  expect(new Set(seen)).toEqual(new Set(["posts"]));
  const { resolve } = gate.closed;
  gate.closed = null;
  resolve();
  await stored;
  expect(seen.filter((kind) => kind === "chunk")).toHaveLength(4);
});
