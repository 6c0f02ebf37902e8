import { readdirSync, readlinkSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { chunksAhead } from "../../src/files/byte-source.ts";
import { Spool } from "../../src/files/spool.ts";
import { type Uploader, SpoolRoom } from "../../src/files/spool-room.ts";
import { makeFolder } from "../support/temporary-folder.ts";
import { pdf, sha256 } from "../support/uploads.ts";

const MEBIBYTE = 1_048_576;
const KEPT_BYTES = 8 * MEBIBYTE;
const ana: Uploader = { unit: "192.0.2.7", kind: "client" };

function openSpool(room: SpoolRoom, sender = ana) {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  return {
    spool: new Spool({ room, sender, folder: folder.path, keptBytes: KEPT_BYTES }),
    folder: folder.path,
  };
}

/** What waits in memory, of all posts together. */
const ALL_MEMORY_BYTES = 16 * MEBIBYTE;

test.each([
  { where: "in memory", sizes: [1, 9, 262_144, 262_145, 3 * MEBIBYTE, 8 * MEBIBYTE], taken: 0, files: 0 },
  { where: "in a file, because it is large", sizes: [8 * MEBIBYTE + 1, 9_500_000], taken: 0, files: 1 },
  {
    where: "in a file, because other posts have the memory",
    sizes: [1, 262_145, 3 * MEBIBYTE],
    taken: ALL_MEMORY_BYTES,
    files: 1,
  },
  {
    where: "first in memory, then in a file",
    sizes: [700_000, 3 * MEBIBYTE],
    taken: ALL_MEMORY_BYTES - 600_000,
    files: 1,
  },
])("bytes come back as they were, and no folder shows them: $where", async ({ sizes, taken, files }) => {
  const room = new SpoolRoom(64 * MEBIBYTE, 32 * MEBIBYTE);
  room.enterMemory(taken);
  for (const size of sizes) {
    const { spool, folder } = openSpool(room);
    const bytes = pdf(Math.max(size, 9), "spool").subarray(0, size);
    for (let at = 0; at < size; at += 50_000) {
      expect(spool.append(bytes.subarray(at, at + 50_000))).toBeNull();
      await spool.settle();
    }
    expect(readdirSync(folder)).toEqual([]);
    expect(openFilesBelow(folder)).toBe(files);
    expect(sha256(await spool.source(0, size).read(0, size + 10))).toBe(sha256(bytes));
    const middle = spool.source(10, size);
    expect(await middle.read(5, 20)).toEqual(bytes.subarray(15, 35));
    const around = Math.max(0, size - 300_000);
    expect(sha256(await spool.source(around, size).read(0, 290_000))).toBe(
      sha256(bytes.subarray(around, around + 290_000)),
    );
    await spool.close();
    await spool.close();
    expect(openFilesBelow(folder)).toBe(0);
  }
  room.leaveMemory(taken);
  expect(room.enterMemory(ALL_MEMORY_BYTES)).toBe(true);
});

/** Descriptors of this process for files that had a name there. */
function openFilesBelow(folder: string): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(folder);
    } catch {
      return false;
    }
  }).length;
}

test("a post that was announced as large waits in a file from its first 256 KiB on, and takes no more of the memory", async () => {
  const room = new SpoolRoom(64 * MEBIBYTE, 32 * MEBIBYTE);
  const reservation = room.reserve(ana, 9 * MEBIBYTE);
  if (typeof reservation === "string") throw new Error("the room is empty");
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const spool = new Spool({ room, sender: ana, reservation, keptBytes: KEPT_BYTES, folder: folder.path });
  for (let part = 0; part < 40; part += 1) {
    expect(spool.append(Buffer.alloc(50_000, part))).toBeNull();
    await spool.settle();
  }
  expect(openFilesBelow(folder.path)).toBe(1);
  expect(room.enterMemory(ALL_MEMORY_BYTES - 262_144)).toBe(true);
  expect(await spool.source(0, 2_000_000).read(1_999_999, 1)).toEqual(Buffer.alloc(1, 39));
  await spool.close();
});

test.each([0, ALL_MEMORY_BYTES])(
  "bytes whose place is written over before they are settled are kept as they came, with %i bytes of memory taken",
  async (taken) => {
    const room = new SpoolRoom(64 * MEBIBYTE, MEBIBYTE);
    room.enterMemory(taken);
    const { spool } = openSpool(room);
    const bytes = pdf(400_000, "spool");
    for (let at = 0; at < bytes.length; at += 50_000) {
      const place = Buffer.from(bytes.subarray(at, at + 50_000));
      spool.append(place);
      place.fill(0);
      await spool.settle();
    }
    expect(sha256(await spool.source(0, bytes.length).read(0, bytes.length))).toBe(sha256(bytes));
    await spool.close();
  },
);

test.each([0, ALL_MEMORY_BYTES])(
  "buffers that are used again mix nothing up: posts at once, one that ends while others go on, and one whose reader stops, with %i bytes of memory taken",
  async (taken) => {
    const room = new SpoolRoom(64 * MEBIBYTE, MEBIBYTE);
    room.enterMemory(taken);
    const texts = ["a", "b", "c", "d"].map((seed) => pdf(900_000, seed));
    const fill = async (bytes: Buffer, sender: string) => {
      const { spool } = openSpool(room, { unit: sender, kind: "client" });
      for (let at = 0; at < bytes.length; at += 60_000) {
        spool.append(bytes.subarray(at, at + 60_000));
        await spool.settle();
      }
      return spool;
    };
    const read = async (spool: Spool) => {
      const parts: Buffer[] = [];
      for await (const part of chunksAhead(spool.source(0, 900_000))) parts.push(Buffer.from(part));
      return sha256(Buffer.concat(parts));
    };
    const [one, two] = await Promise.all(texts.slice(0, 2).map((bytes, at) => fill(bytes, String(at))));
    if (one === undefined || two === undefined) throw new Error("both have room");
    for await (const part of chunksAhead(one.source(0, 900_000))) {
      expect(part.equals((texts[0] as Buffer).subarray(0, part.length))).toBe(true);
      break;
    }
    expect(await read(one)).toBe(sha256(texts[0] as Buffer));
    await one.close();
    const others = await Promise.all(texts.slice(2).map((bytes, at) => fill(bytes, `other ${at}`)));
    const all = [two, ...others];
    expect(await Promise.all(all.map(read))).toEqual(texts.slice(1).map((bytes) => sha256(bytes)));
    for (const spool of all) await spool.close();
    expect(room.takenBytes).toBe(0);
  },
);

test("one address has an eighth of the room, others have theirs, and closing gives everything back", async () => {
  const room = new SpoolRoom(8 * MEBIBYTE, 1000);
  const one = openSpool(room);
  expect(one.spool.append(Buffer.alloc(MEBIBYTE))).toBeNull();
  expect(one.spool.append(Buffer.alloc(1))).toBe("this client");
  const other = openSpool(room, { unit: "192.0.2.8", kind: "client" });
  expect(other.spool.append(Buffer.alloc(MEBIBYTE))).toBeNull();
  const proxy = openSpool(room, { unit: "10.0.0.1", kind: "maybe a proxy" });
  expect(proxy.spool.append(Buffer.alloc(4 * MEBIBYTE))).toBeNull();
  const late = ["a", "b", "c"].map((unit) => openSpool(room, { unit, kind: "client" }).spool);
  expect(late.map((spool) => spool.append(Buffer.alloc(MEBIBYTE)))).toEqual([null, null, "everybody"]);
  for (const { spool } of [one, other, proxy]) await spool.close();
  for (const spool of late) await spool.close();
  expect(room.takenBytes).toBe(0);
});

test("posts that come together are refused before their first byte once the room is promised, and those before them are taken whole", () => {
  const room = new SpoolRoom(8 * MEBIBYTE, 1000);
  const senders = Array.from({ length: 12 }, (_, at): Uploader => ({
    unit: `192.0.2.${at}`,
    kind: "client",
  }));
  const reserved = senders.map((sender) => room.reserve(sender, MEBIBYTE));
  expect(reserved.slice(8)).toEqual(["everybody", "everybody", "everybody", "everybody"]);
  for (let part = 0; part < 4; part += 1)
    for (const [at, reservation] of reserved.slice(0, 8).entries()) {
      if (typeof reservation === "string") throw new Error("eight have room");
      expect(room.take(senders[at] ?? ana, MEBIBYTE / 4, reservation)).toBeNull();
    }
  expect(room.takenBytes).toBe(8 * MEBIBYTE);
});

test("what a client announced counts for its share, until it leaves or for ten seconds", () => {
  const now = { ms: 0 };
  const room = new SpoolRoom(8 * MEBIBYTE, 1000, () => now.ms);
  const first = room.reserve(ana, MEBIBYTE);
  if (typeof first === "string") throw new Error("the room is empty");
  expect(room.reserve(ana, 1)).toBe("this client");
  room.release(first);
  room.release(first);
  const second = room.reserve(ana, MEBIBYTE);
  if (typeof second === "string") throw new Error("the room was given back");
  expect(room.take(ana, 1000, second)).toBeNull();
  now.ms = 9999;
  expect(room.reserve(ana, 1)).toBe("this client");
  now.ms = 10_000;
  expect(room.take(ana, MEBIBYTE - 1000)).toBeNull();
  // Of the reservation nothing is left that could be given back twice.
  room.release(second);
  expect(room.take(ana, 1, second)).toBe("this client");
  room.give(ana, MEBIBYTE);
  expect(room.takenBytes).toBe(0);
  expect(typeof room.reserve(ana, MEBIBYTE)).toBe("object");
});
