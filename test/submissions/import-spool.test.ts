import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import {
  ImportSpool,
  type Importer,
  MAX_DAY_BYTES,
  MAX_IMPORT_BYTES,
} from "../../src/submissions/import/import-spool.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { until } from "../support/until.ts";
import { makeFolder } from "../support/temporary-folder.ts";

let folder: ReturnType<typeof makeFolder>;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

const OWNER: Importer = { id: "acct_1", isBounded: true };
const PART = Buffer.alloc(4_194_304);

async function* body(bytes: number): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; left -= PART.length)
    yield await Promise.resolve(PART.subarray(0, Math.min(left, PART.length)));
}

/** A body that must be refused before it is read. */
function unread(): AsyncIterable<Buffer> {
  return {
    [Symbol.asyncIterator]: () => {
      throw new Error("a byte was read");
    },
  };
}

function open(freeBytes: number | null = null, keepMs?: number) {
  const clock = createFakeClock();
  const spool = new ImportSpool({
    folder: folder.path,
    freeBytes: () => freeBytes,
    minFreeBytes: 100,
    clock,
    ...(keepMs !== undefined && { keepMs }),
  });
  onTestFinished(() => spool.close());
  const send = async (importer: Importer, bytes: number, lengthBytes: number | null = null) => {
    const file = await spool.receive(body(bytes), { importer, name: "a.csv", lengthBytes });
    await file.closeUnused();
    return file.sha256.length;
  };
  /** A file that waits for more work. */
  const keep = async (id: string, bytes = 10) => {
    const importer = { id, isBounded: false };
    const file = await spool.receive(body(bytes), { importer, name: "a.csv", lengthBytes: null });
    await file.keep(async () => undefined);
    return file;
  };
  return { clock, spool, send, keep };
}

const GONE = { code: "not_found", message: expect.stringContaining("not here any more") as string };
const nothing = async () => undefined;

test("an importer sends what four of the largest files have in a day, whoever says how long a file is; an operator has no such bound", async () => {
  const { clock, spool, send } = open();
  for (let file = 0; file < MAX_DAY_BYTES / MAX_IMPORT_BYTES; file += 1)
    expect(await send(OWNER, MAX_IMPORT_BYTES)).toBe(32);
  const refusal = { code: "rate_limited", message: expect.stringContaining("1024 MiB a day") as string };
  await expect(send(OWNER, 1)).rejects.toMatchObject(refusal);
  const read = spool.receive(unread(), { importer: OWNER, name: "a.csv", lengthBytes: 1 });
  await expect(read).rejects.toMatchObject(refusal);
  expect(await send({ id: "acct_2", isBounded: true }, 1)).toBe(32);
  expect(await send({ ...OWNER, isBounded: false }, 1)).toBe(32);
  clock.advance(86_400_000);
  expect(await send(OWNER, 1)).toBe(32);
}, 120_000);

test("what came of a file that was refused counts, and one file of an importer is there at a time", async () => {
  const { spool, send } = open();
  await expect(send(OWNER, MAX_IMPORT_BYTES + 1)).rejects.toMatchObject({ code: "payload_too_large" });
  const first = await spool.receive(body(10), { importer: OWNER, name: "a.csv", lengthBytes: null });
  await expect(send(OWNER, 1)).rejects.toMatchObject({ code: "rate_limited" });
  await first.use(async () => {
    await expect(send(OWNER, 1)).rejects.toMatchObject({ code: "rate_limited" });
  });
  for (let file = 0; file < 2; file += 1) await send(OWNER, MAX_IMPORT_BYTES);
  await expect(send(OWNER, MAX_IMPORT_BYTES)).rejects.toMatchObject({ code: "rate_limited" });
}, 120_000);

test("a disk that is nearly full takes no file, by its length before a byte came", async () => {
  const { spool, send } = open(1000);
  const read = spool.receive(unread(), { importer: OWNER, name: "a.csv", lengthBytes: 901 });
  await expect(read).rejects.toMatchObject({ code: "unavailable" });
  expect(await send(OWNER, 900, 900)).toBe(32);
});

test("a file that waits is read again, gives way to its importer's next one, and is gone after its time", async () => {
  const { keep, spool } = open();
  const first = await keep("acct_1");
  const sizes: number[] = [];
  const read = async () => {
    for await (const bytes of first.bytes()) sizes.push(bytes.length);
  };
  await first.keep(read);
  await first.keep(read);
  expect(sizes).toEqual([10, 10]);
  const second = await keep("acct_1");
  await expect(first.keep(nothing)).rejects.toMatchObject(GONE);
  await second.keep(nothing);
  await spool.close();
  await expect(second.keep(nothing)).rejects.toMatchObject(GONE);
  const brief = await open(null, 1).keep("acct_1");
  await until(
    async () => (await brief.keep(nothing).catch(({ code }: { code: string }) => code)) === "not_found",
  );
});

test("files that wait give way to new ones when the room is full, the one that waited longest first; a used one stays", async () => {
  const { keep, send } = open();
  const files = [];
  for (const id of ["acct_1", "acct_2", "acct_3", "acct_4"]) files.push(await keep(id, MAX_IMPORT_BYTES));
  const [first, second, third] = files;
  await first?.keep(async () => {
    expect(await send({ id: "acct_5", isBounded: true }, 10)).toBe(32);
  });
  await expect(second?.keep(nothing)).rejects.toMatchObject(GONE);
  await first?.keep(nothing);
  await third?.keep(nothing);
}, 120_000);

test("while a kept file is used its importer sends no other one, and it is used for one work at a time", async () => {
  const { keep, send } = open();
  const file = await keep("acct_1");
  await file.keep(async () => {
    await expect(send({ id: "acct_1", isBounded: false }, 1)).rejects.toMatchObject({ code: "rate_limited" });
    await expect(file.keep(nothing)).rejects.toMatchObject({ code: "rate_limited" });
  });
  expect(await send({ id: "acct_1", isBounded: false }, 1)).toBe(32);
  await file.close();
  await expect(file.keep(nothing)).rejects.toMatchObject(GONE);
});

test("a stop ends work that reads a file at its next piece, and takes no further file", async () => {
  const { spool } = open();
  const file = await spool.receive(body(PART.length), { importer: OWNER, name: "a.csv", lengthBytes: null });
  let [pieces, hasEnded] = [0, false];
  const begun = Promise.withResolvers<void>();
  const work = file.use(async () => {
    try {
      for await (const _ of file.bytes()) {
        pieces += 1;
        begun.resolve();
        await until(() => stop !== null);
      }
    } finally {
      hasEnded = true;
    }
  });
  let stop: Promise<void> | null = null;
  await begun.promise;
  const refusal = { code: "unavailable", message: expect.stringContaining("being restarted") as string };
  stop = spool.close();
  await expect(work).rejects.toMatchObject(refusal);
  await stop;
  expect([pieces, hasEnded]).toEqual([1, true]);
  const later = spool.receive(unread(), { importer: OWNER, name: "a.csv", lengthBytes: 1 });
  await expect(later).rejects.toMatchObject(refusal);
});
