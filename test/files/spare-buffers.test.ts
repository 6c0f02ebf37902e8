import { expect, onTestFinished, test } from "vitest";
import { chunksAhead, CHUNK_BYTES } from "../../src/files/byte-source.ts";
import { SpoolRoom } from "../../src/files/spool-room.ts";
import { Spool } from "../../src/files/spool.ts";
import { makeFolder } from "../support/temporary-folder.ts";
import { pdf, sha256 } from "../support/uploads.ts";

const ROOM = 4_294_967_296;
const KEPT_BYTES = 8_388_608;
const LARGE = 9_437_184;
const room = new SpoolRoom(ROOM, ROOM / 2);

const sender = { unit: "192.0.2.7", kind: "client" } as const;

/** A post that came whole. If it is announced as large, more than 256 KiB of it are in a file. */
async function fill(bytes: Buffer, announcedBytes = LARGE): Promise<Spool> {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const reservation = room.reserve(sender, announcedBytes);
  if (typeof reservation === "string") throw new Error("the room is large");
  const spool = new Spool({ room, sender, folder: folder.path, reservation, keptBytes: KEPT_BYTES });
  for (let at = 0; at < bytes.length; at += 60_000) {
    spool.append(bytes.subarray(at, at + 60_000));
    await spool.settle();
  }
  return spool;
}

/** Uses every buffer that is free: posts of other bytes that are read in parts, and come to their end. */
async function otherPosts(): Promise<void> {
  const spools = await Promise.all(
    Array.from({ length: 24 }, (_, number) => fill(Buffer.alloc(600_000, `other ${number}`))),
  );
  await Promise.all(
    spools.map(async (spool) => {
      for await (const part of chunksAhead(spool.source(0, 600_000))) expect(part.length).toBeGreaterThan(0);
    }),
  );
  for (const spool of spools) await spool.close();
}

test.each([
  ["of a large post", LARGE],
  ["of a post in memory", 1_000_000],
])(
  "nobody writes into a part %s that somebody still stores, also not into the last one",
  async (_, announcedBytes) => {
    await otherPosts();
    const bytes = pdf(2 * CHUNK_BYTES + 100_000, "stored");
    const spool = await fill(bytes, announcedBytes);
    let at = 0;
    for await (const part of chunksAhead(spool.source(0, bytes.length))) {
      await otherPosts();
      expect(sha256(part)).toBe(sha256(bytes.subarray(at, at + part.length)));
      at += part.length;
    }
    expect(at).toBe(bytes.length);
    await spool.close();
  },
);

test("a part of a post that was in memory stays as it is after the post is closed", async () => {
  const bytes = pdf(200_000, "in memory");
  const spool = await fill(bytes, bytes.length);
  const part = await spool.source(0, bytes.length).read(0, bytes.length);
  await spool.close();
  await otherPosts();
  expect(sha256(part)).toBe(sha256(bytes));
});

test("a read that is under way when nobody wants its part any more writes into no other post", async () => {
  const late = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const source = {
    size: 3 * CHUNK_BYTES,
    async read(offset: number, length: number, into?: Buffer): Promise<Buffer> {
      if (into === undefined) throw new Error("each part has a buffer");
      if (offset > 0) await late.promise;
      into.fill("late", 0, length);
      if (offset > 0) ended.resolve();
      return into.subarray(0, length);
    },
  };
  for await (const part of chunksAhead(source)) {
    expect(part.length).toBe(CHUNK_BYTES);
    break;
  }
  const posts = Array.from({ length: 30 }, (_, number) => pdf(200_000, `post ${number}`));
  const spools = await Promise.all(posts.map((bytes) => fill(bytes)));
  late.resolve();
  await ended.promise;
  for (const [index, spool] of spools.entries()) {
    expect(sha256(await spool.source(0, 200_000).read(0, 200_000))).toBe(sha256(posts[index] as Buffer));
    await spool.close();
  }
});
