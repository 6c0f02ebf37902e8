import { describe, expect, test } from "vitest";
import { dropLostFiles } from "../../src/files/file-store.ts";
import { createFileLinks } from "../../src/files/file-links.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import type { Database } from "../../src/database/database.ts";
import { newId } from "../../src/foundation/id.ts";
import { dropAllHeld, dropHeld, releaseHeld } from "../../src/submissions/held/held-operations.ts";
import { dropExpired } from "../../src/submissions/held/held-post.ts";
import { erasePersonRecords } from "../../src/submissions/manage/person-operations.ts";
import { storeFiles } from "../../src/submissions/receive/store-files.ts";
import { addPlace, batchServer } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { performOn } from "../support/terminal.ts";
import { startServer } from "../support/test-server.ts";
import {
  applicationSchema,
  fileStoring,
  multipart,
  pdf,
  sha256,
  storedFiles,
  uploadingTo,
} from "../support/uploads.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const SIZE = 300_000;
/** A form with such a file may have none by its length, so it is read before its files are refused. */
const SMALL = 5000;
const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

function fileOf(bytes: Buffer) {
  const facts = {
    id: newId("fil", NOON),
    name: "cv.pdf",
    size: bytes.length,
    type: "application/pdf",
    sha256: "0",
  };
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
  return { facts, source: { size: bytes.length, read } };
}

function linksOn(db: Database) {
  const keyring = createKeyring({ keyFile: null, key: null });
  return createFileLinks({ db, keyring, baseUrl: "https://files.example.com", days: 7 });
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function setUp() {
    const db = await temporary();
    const { queue } = batchServer(db);
    const place = await addPlace(db);
    const parts = fileStoring(db, queue);
    const uploading = {
      ...uploadingTo(place.endpointId),
      workspaceId: place.workspaceId,
      heldBytes: 2 * SIZE,
    };
    const hold = async (more = {}) => {
      const file = fileOf(pdf(SIZE));
      await storeFiles(parts, [file], { uploading, createdAt: NOON });
      const { held, ...around } = place.held({ ...more, fileIds: [file.facts.id] });
      const data = { name: "Ana", cv: [file.facts] };
      expect(await queue.hold({ ...around, held: { ...held, data } })).toBe("stored");
      return held.id;
    };
    const files = () =>
      rowsOf<{ state: string; held: number; released: number; chunks: number }>(
        db,
        `SELECT state, for_held AS held, CASE WHEN submission_id IS NULL THEN 0 ELSE 1 END AS released,
          (SELECT count(*) FROM file_chunk WHERE file_id = file.id) AS chunks FROM file ORDER BY id`,
      );
    return { db, place, hold, files };
  }

  test("the release of a held post gives its files to the submission", async () => {
    const { db, hold, files } = await setUp();
    const id = await hold();
    expect(await files()).toEqual([{ state: "stored", held: 1, released: 0, chunks: 2 }]);
    await performOn(db, releaseHeld, { held: id }, { plans, parts: { fileLinks: linksOn(db) } });
    expect(await db.transaction(() => dropLostFiles(NOON + DAY_MS))).toBe(0);
    expect(await files()).toEqual([{ state: "stored", held: 0, released: 1, chunks: 2 }]);
  });

  test("the message about a released post has addresses of its files, which are good", async () => {
    const { db, place, hold } = await setUp();
    await place.recipient(100);
    const fileLinks = linksOn(db);
    await performOn(db, releaseHeld, { held: await hold() }, { plans, parts: { fileLinks } });
    const [row] = await rowsOf<{ event_head: string }>(db, "SELECT event_head FROM submission");
    const message = JSON.parse(row?.event_head ?? "") as { submission: { data: { cv: [{ url: string }] } } };
    const { url, ...told } = message.submission.data.cv[0];
    expect(told).toMatchObject({ name: "cv.pdf", url_expires_at: new Date(NOON + 7 * DAY_MS).toISOString() });
    const [, id = "", until = "", signature = ""] =
      /\/files\/(fil_\w+)\?until=(\d+)&sig=([\w-]+)$/.exec(url) ?? [];
    expect(await fileLinks.isGood({ id, until, signature }, NOON)).toBe(true);
  });

  test.each<[string, (db: Database, held: string) => Promise<unknown>]>([
    ["is dropped", (db, held) => performOn(db, dropHeld, { held: [held] })],
    ["is dropped with all others", (db) => performOn(db, dropAllHeld, {})],
    ["is erased with a person", (db, held) => performOn(db, erasePersonRecords, { held: [held] })],
  ])("the bytes of a held post's files are gone when it %s", async (_name, drop) => {
    const { db, hold, files } = await setUp();
    const id = await hold();
    await drop(db, id);
    expect(await files()).toEqual([]);
    expect(await rowsOf(db, "SELECT file_id FROM file_chunk")).toEqual([]);
  });

  test("a held post that expires takes its files along", async () => {
    const { db, hold, files } = await setUp();
    await hold();
    expect(await db.transaction(() => dropExpired(1, NOON + 2 * DAY_MS))).toBe(1);
    while ((await db.transaction(() => dropLostFiles(NOON))) > 0);
    expect(await files()).toEqual([]);
  });

  test("what a workspace holds of files is bounded, and room that is free again is used again", async () => {
    const { db, hold } = await setUp();
    await hold();
    await hold();
    await expect(hold()).rejects.toMatchObject({
      code: "storage_limit",
      facts: { details: { limit: "held.maxFileBytes" } },
    });
    await db.transaction(() => dropExpired(1, NOON + 2 * DAY_MS));
    while ((await db.transaction(() => dropLostFiles(NOON))) > 0);
    await expect(hold()).resolves.toBeDefined();
  });

  test("a post that is held already by its Idempotency-Key gets no second files", async () => {
    const { hold, place, files } = await setUp();
    const idempotent = place.idempotent("a-key");
    await hold({ idempotent });
    await hold({ idempotent });
    expect((await files()).map(({ state }) => state)).toEqual(["stored", "storing"]);
  });
});

const month = { plans: { hobby: { monthlySubmissions: 0 } } };

async function post(
  config: Parameters<typeof startServer>[0],
  more: readonly (readonly [string, string])[] = [],
  size = SIZE,
) {
  const server = await startServer(config);
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const bytes = pdf(size);
  const { headers, body } = await multipart([["name", "Ana"], ["cv", { name: "cv.pdf", bytes }], ...more]);
  const authorization = `Bearer ${endpoint.secret}`;
  const request = { method: "POST", path: "/submit", headers: { ...headers, authorization }, body } as const;
  const answer = await server.request(request);
  const held = server.owner.prepare("SELECT id, data FROM held").all() as { id: string; data: string }[];
  const data = held.map((row) => (JSON.parse(row.data) as { cv: object[] }).cv[0]);
  return { server, bytes, answer, held, data };
}

test("a post over the month's limit is held with its files, byte for byte", async () => {
  const { server, bytes, answer, held, data } = await post(month);
  expect(answer).toMatchObject({
    status: 429,
    json: { error: "Submission limit exceeded", notices: ["held"] },
  });
  const { files, bytesOf } = storedFiles(server.owner);
  expect(sha256(bytesOf(files[0]?.id ?? ""))).toBe(sha256(bytes));
  expect(server.owner.prepare("SELECT held_id FROM file").pluck().all()).toEqual([held[0]?.id]);
  expect(data).toEqual([
    { id: files[0]?.id, name: "cv.pdf", size: SIZE, type: "application/pdf", sha256: sha256(bytes) },
  ]);
});

test("a post whose files do not fit into what a workspace holds is held with their names and sizes", async () => {
  const { server, answer, data } = await post({ ...month, held: { maxFileBytes: SIZE - 1 } });
  expect(answer.json).toMatchObject({ notices: ["held"] });
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(data).toMatchObject([{ name: "cv.pdf", size: SIZE, state: "deleted" }]);
});

test("a post that is held, whose files do not fit into the plan's room, is noted for owner and operator", async () => {
  const hobby = { monthlySubmissions: 0, fileBytes: SMALL - 1 };
  const { server, answer, data } = await post({ plans: { hobby } }, [], SMALL);
  expect(answer.json).toMatchObject({ error: "Submission limit exceeded", notices: ["held"] });
  expect(data).toMatchObject([{ name: "cv.pdf", size: SMALL, state: "deleted" }]);
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(server.owner.prepare("SELECT unit, bytes FROM upload_use").all()).toEqual([
    { unit: expect.stringMatching(/^full ws_/) as string, bytes: 0 },
  ]);
});

test("of a post with a filled honeypot the names and sizes of its files are held, and none of their bytes", async () => {
  const { server, answer, data } = await post({}, [["_gotcha", "https://spam.example"]]);
  expect(answer.status).toBe(429);
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(data).toMatchObject([{ name: "cv.pdf", size: SIZE, state: "deleted" }]);
});
