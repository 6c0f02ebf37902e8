import { describe, expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { run, text } from "../../src/database/steps.ts";
import { createFileRoom, dropOldUploads, type Uploading } from "../../src/files/file-room.ts";
import { dropUnstored } from "../../src/files/file-store.ts";
import type { NewFile } from "../../src/files/stored-file.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { newId } from "../../src/foundation/id.ts";
import { compileNetworks } from "../../src/foundation/ip-address.ts";
import {
  checkFileChunks,
  checkFileRoom,
  checkUploadAddresses,
} from "../../src/submissions/files/files-health.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const free = {
  maxTotalBytes: 1_000_000,
  maxBytesPerAddressPerDay: null,
  maxFormShare: 1,
  exempt: compileNetworks(["203.0.113.0/24"]),
};

function fileOf(endpointId: string, size: number, createdAt = NOON): NewFile {
  const id = newId("fil", createdAt);
  return { id, endpointId, name: "a.pdf", size, type: "application/pdf", sha256: "0", createdAt };
}

/** What became of each: `taken`, or the code of the refusal and the limit that it names. */
async function outcomes(works: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const ended of await Promise.allSettled(works)) {
    const error: unknown = ended.status === "rejected" ? ended.reason : null;
    if (error !== null && !(error instanceof FormsvcError)) throw error;
    const name = error === null ? "taken" : `${error.code} ${String(error.facts.details?.["limit"])}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function setUp(rules: Partial<Parameters<typeof createFileRoom>[1]>) {
    const db = await temporary();
    const { workspaceId, endpointId } = await addPlace(db);
    // Two servers with one database.
    const rooms = [createFileRoom(db, { ...free, ...rules }), createFileRoom(db, { ...free, ...rules })];
    const somebody: Uploading = {
      endpointId,
      workspaceId,
      planBytes: null,
      isPublishable: true,
      address: "192.0.2.1",
    };
    const take = (who: Partial<Uploading>, size: number, now = NOON, server = 0) => {
      const room = rooms[server % 2];
      if (room === undefined) throw new Error("there are two");
      return room.take({ ...somebody, ...who }, [fileOf(endpointId, size, now)]);
    };
    const many = (count: number, who: Partial<Uploading>, size: number) =>
      outcomes(Array.from({ length: count }, (_, index) => take(who, size, NOON, index)));
    return { db, workspaceId, endpointId, rooms, somebody, take, many };
  }

  test("posts at the same time on two servers never pass the plan's room, and each that fits is taken", async () => {
    const { many } = await setUp({});
    expect(await many(12, { planBytes: 100_000 }, 15_000)).toEqual({
      taken: 6,
      "storage_limit fileBytes": 6,
    });
  });

  test("an address has its bytes a day, an IPv6 address with its /64, and others have theirs", async () => {
    const { many, take } = await setUp({ maxBytesPerAddressPerDay: 50_000 });
    const refused = "upload_limit files.maxBytesPerAddressPerDay";
    expect(await many(5, { address: "2001:db8::1" }, 20_000)).toEqual({ taken: 2, [refused]: 3 });
    expect(await many(1, { address: "2001:db8::ffff" }, 20_000)).toEqual({ [refused]: 1 });
    expect(await many(1, { address: "2001:db8:0:1::1" }, 20_000)).toEqual({ taken: 1 });
    expect(await many(4, { address: "203.0.113.5" }, 20_000)).toEqual({ taken: 4 });
    await expect(take({ address: "2001:db8::1" }, 20_000, NOON + DAY_MS / 2)).resolves.toBeDefined();
  });

  test("the publishable key of a form takes its share of the room in a day, and its secret key the rest", async () => {
    const { many } = await setUp({ maxFormShare: 0.5 });
    const plan = { planBytes: 100_000 };
    expect(await many(5, plan, 20_000)).toEqual({ taken: 2, "upload_limit files.maxFormShare": 3 });
    expect(await many(4, { ...plan, isPublishable: false }, 20_000)).toEqual({
      taken: 3,
      "storage_limit fileBytes": 1,
    });
  });

  test("a refusal for the day says when the next one begins", async () => {
    const { take } = await setUp({ maxBytesPerAddressPerDay: 1000 });
    await expect(take({}, 1001)).rejects.toMatchObject({
      code: "upload_limit",
      facts: { retryAfterSeconds: DAY_MS / 2 / 1000 },
    });
  });

  test("all files together have their room, and what is given back is free again", async () => {
    const { db, many, rooms, take } = await setUp({
      maxTotalBytes: 50_000,
      maxBytesPerAddressPerDay: 50_000,
    });
    const taken = await take({}, 30_000);
    const refused = { "unavailable files.maxTotalBytes": 1 };
    expect(await many(1, {}, 30_000)).toEqual(refused);
    expect(await many(1, { address: null }, 30_000)).toEqual(refused);
    await db.transaction(() => dropUnstored(taken.files[0]?.id ?? ""));
    await rooms[0]?.giveBack(taken, 30_000);
    expect(await many(1, {}, 30_000)).toEqual({ taken: 1 });
  });

  test("doctor names each room that is nearly full, and says what full ones refuse", async () => {
    const { db, workspaceId, take } = await setUp({ maxTotalBytes: 200_000 });
    const plans = {
      hobby: { monthlySubmissions: null, endpoints: null, customSpam: false, fileBytes: 100_000 },
    };
    const look = async () =>
      (
        await db.read(() =>
          checkFileRoom({ maxTotalBytes: 200_000, minFreeBytes: 0, freeBytes: 1, plans }, NOON),
        )
      ).map(({ ok, message }) => [ok, message]);
    const plan = { planBytes: 100_000 };
    await take(plan, 79_000);
    expect(await look()).toEqual([[true, "there is room for files; they take 77 KB"]]);
    await take(plan, 1000);
    const near = `the files of ${workspaceId} take 78 KB of 98 KB of the plan hobby`;
    expect(await look()).toEqual([[false, near]]);
    await take(plan, 20_001).catch(() => undefined);
    expect(await look()).toEqual([[false, `${near}; posts with files that do not fit are answered 429`]]);
    await take({}, 120_000);
    expect(await look()).toContainEqual([
      false,
      "all files take 195 KB of 195 KB (files.maxTotalBytes); posts with files that do not fit are answered 503",
    ]);
  });

  test("doctor names the forms whose publishable keys had their share of a day, until the end of the next day", async () => {
    const { db, endpointId, take } = await setUp({ maxFormShare: 0.5 });
    const rules = { maxTotalBytes: 1_000_000, minFreeBytes: 0, freeBytes: null, plans: {} };
    const look = async (now: number) =>
      (await db.read(() => checkFileRoom(rules, now))).map(({ ok, message, advice }) => [
        ok,
        message,
        advice,
      ]);
    const plan = { planBytes: 100_000 };
    await take(plan, 40_000);
    expect(await look(NOON)).toMatchObject([[true, expect.anything(), null]]);
    await take(plan, 10_001).catch(() => undefined);
    // Its secret key and other addresses were not refused.
    await take({ ...plan, isPublishable: false }, 10_001);
    const found = (words: string) => [
      false,
      `posts with files to ${endpointId} ${words} 00:00 UTC: their publishable keys sent as much as they may in a day (files.maxFormShare)`,
      { kind: "raise_form_share" },
    ];
    expect(await look(NOON)).toEqual([found("are answered 429 until")]);
    expect(await look(NOON + DAY_MS)).toEqual([found("were answered 429 yesterday until")]);
    expect(await look(NOON + 2 * DAY_MS)).toMatchObject([[true, expect.anything(), null]]);
  });

  test("doctor says that addresses had their share of a day, until the end of the next day, and calls it no problem", async () => {
    const { db, take } = await setUp({ maxBytesPerAddressPerDay: 50_000 });
    const look = (now: number) => db.read(() => checkUploadAddresses(50_000, now));
    const none = { ok: true, message: "no address sent more files than it may in a day" };
    await take({}, 50_000);
    expect(await look(NOON)).toMatchObject(none);
    // Two addresses, and one row: strangers must not make it many.
    await take({}, 1).catch(() => undefined);
    await take({ address: "192.0.2.2" }, 50_001).catch(() => undefined);
    const rows = await rowsOf(db, "SELECT unit FROM upload_use WHERE unit LIKE 'full%'");
    expect(rows).toEqual([{ unit: "full address" }]);
    for (const now of [NOON, NOON + DAY_MS])
      expect(await look(now)).toMatchObject({
        ok: true,
        message: expect.stringMatching(
          /^since yesterday .* sent 49 KB .*files\.maxBytesPerAddressPerDay.*trustProxy/,
        ),
      });
    expect(await db.read(() => checkUploadAddresses(null, NOON))).toMatchObject(none);
    expect(await look(NOON + 2 * DAY_MS)).toMatchObject(none);
  });

  test("a refusal just before midnight is told on the next day too: of a plan's room and of the server's", async () => {
    const { db, workspaceId, take } = await setUp({ maxTotalBytes: 200_000 });
    const plans = {
      hobby: { monthlySubmissions: null, endpoints: null, customSpam: false, fileBytes: 100_000 },
    };
    const rules = { maxTotalBytes: 200_000, minFreeBytes: 0, freeBytes: null, plans };
    const look = async (now: number) =>
      (await db.read(() => checkFileRoom(rules, now))).map(({ message }) => message);
    const midnight = NOON + DAY_MS / 2;
    await take({ planBytes: 100_000 }, 100_001, midnight - 1).catch(() => undefined);
    await take({}, 200_001, midnight - 1).catch(() => undefined);
    const both = [
      "all files take 0 bytes of 195 KB (files.maxTotalBytes); posts with files that do not fit are answered 503",
      `the files of ${workspaceId} take 0 bytes of 98 KB of the plan hobby; posts with files that do not fit are answered 429`,
    ];
    expect(await look(midnight + 1)).toEqual(both);
    expect(await look(midnight + DAY_MS)).toEqual(["there are no files"]);
  });

  test("doctor tells from 80 % on that the room of all files ends, and that a full disk takes no files", async () => {
    const { db, take } = await setUp({});
    const look = (freeBytes: number | null) =>
      db.read(() =>
        checkFileRoom({ maxTotalBytes: 100_000, minFreeBytes: 1_048_576, freeBytes, plans: {} }, NOON),
      );
    // A server that takes no files needs no room for them.
    expect(await look(0)).toMatchObject([{ ok: true, message: "there are no files" }]);
    await take({}, 79_999);
    expect(await look(1_048_576)).toMatchObject([{ ok: true }]);
    expect(await look(null)).toMatchObject([{ ok: true }]);
    const disk =
      "1023 KB are free on the disk of the database; below 1 MB (files.minFreeBytes) posts with files are answered 503";
    expect(await look(1_048_000)).toMatchObject([{ ok: false, name: "files.room", message: disk }]);
    await take({}, 1);
    expect(await look(1_048_000)).toMatchObject([
      {
        ok: false,
        message: "all files take 78 KB of 98 KB (files.maxTotalBytes)",
        advice: { kind: "make_room_for_files", percent: "80" },
      },
      { ok: false, message: disk },
    ]);
  });

  test("doctor recommends a store from 2 GB in the database on, and counts files that lack bytes", async () => {
    const db = await temporary();
    const { endpointId } = await addPlace(db);
    const [submissionId = null] = await storeSubmissions(db, [{ endpointId }]);
    const add = (size: number, chunk: Buffer | null) =>
      db.transaction(function* () {
        const { id, name, type, sha256 } = fileOf(endpointId, size);
        const facts = { id, name, type, sha256, size, endpoint_id: endpointId, created_at: NOON };
        yield* run(
          query
            .insertInto("file")
            .values({ ...facts, submission_id: submissionId, state: "stored", is_left_out: 0 }),
        );
        if (chunk !== null)
          yield* run(text("INSERT INTO file_chunk (file_id, position, bytes) VALUES (?, 0, ?)", id, chunk));
      });
    const rules = { maxTotalBytes: 10_737_418_240, minFreeBytes: 0, freeBytes: null, plans: {} };
    const room = async () => (await db.read(() => checkFileRoom(rules, NOON))).map(({ message }) => message);
    const chunks = () => db.read(checkFileChunks);
    await add(1000, Buffer.alloc(1000));
    expect(await chunks()).toMatchObject({ ok: true, message: "every file has all its bytes" });
    await add(1_999_000_000, null);
    expect(await room()).toEqual([expect.stringMatching(/^there is room for files; they take 1.9 GB$/)]);
    expect(await chunks()).toMatchObject({ ok: false, message: "1 file lacks bytes; downloads of it fail" });
    await add(1_000_000, null);
    expect(await room()).toEqual([expect.stringContaining("from 2 GB on, an S3-compatible store")]);
    expect(await chunks()).toMatchObject({
      ok: false,
      message: "2 files lack bytes; downloads of them fail",
    });
  });

  test("what was counted on days that are over is forgotten", async () => {
    const { db, take } = await setUp({ maxBytesPerAddressPerDay: 50_000 });
    await take({}, 1000);
    expect(await db.transaction(() => dropOldUploads(NOON + DAY_MS))).toBe(0);
    expect(await db.transaction(() => dropOldUploads(NOON + 2 * DAY_MS))).toBe(2);
    expect(await rowsOf(db, "SELECT unit FROM upload_use")).toEqual([]);
  });
});
