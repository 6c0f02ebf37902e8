import { createHash } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { S3Store } from "../../src/files/s3-store.ts";
import type { S3Settings } from "../../src/files/s3-request.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { type ScriptedStore, startScriptedStore, type Treatment } from "../support/scripted-store.ts";
import { pdf } from "../support/uploads.ts";
import { hasVersitygw, startVersitygw } from "../support/versitygw.ts";

const NAME = "fil_01h455vb4pex5vsknk084sn02q-0123456789abcdef";

function clientOf(settings: Partial<S3Settings>) {
  const told: string[] = [];
  const store = new S3Store({
    settings: () => ({
      region: "us-east-1",
      prefix: "",
      pathStyle: true,
      timeoutMs: 30_000,
      endpoint: "",
      bucket: "",
      accessKeyId: "",
      secretAccessKey: "",
      ...settings,
    }),
    takesNew: true,
    observer: {
      onFailure: (kind) => told.push(`failed ${kind}`),
      onFault: (fault) => told.push(`fault: ${fault}`),
      onRecovery: () => told.push("recovered"),
    },
  });
  onTestFinished(() => store.close());
  return { store, told };
}

function file(bytes: Buffer) {
  const expected = { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  const source = {
    size: bytes.length,
    read: async (offset: number, length: number) => bytes.subarray(offset, offset + length),
  };
  return { expected, source, range: { first: 0, last: bytes.length - 1 } };
}

async function readAll(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const part of parts) read.push(part);
  return Buffer.concat(read);
}

/** What an operator finds out of a refusal. */
async function causeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FormsvcError)) throw new Error(`not refused: ${String(error)}`, { cause: error });
  return `${error.code}: ${(error.cause as Error).message}`;
}

/** Only one that does not answer is waited for no longer than needed. */
const SILENT: ReadonlySet<Treatment> = new Set(["stall", "deaf"]);

const treated = async (treatment: Treatment, method = "PUT"): Promise<ScriptedStore> => {
  const scripted = await startScriptedStore(SILENT.has(treatment) ? 300 : 30_000);
  scripted.treat = (request) => (request.method === method ? treatment : "ok");
  return scripted;
};

describe.skipIf(!hasVersitygw)("a real S3 server", () => {
  test.each(["", "a/b.c/"])(
    "keeps a file and gives it whole and in parts, under the prefix %j",
    async (prefix) => {
      const bucket = await startVersitygw(prefix);
      const { store, told } = clientOf(bucket.settings);
      const bytes = pdf(700_001);
      const { source, expected, range } = file(bytes);
      await store.put(NAME, source, expected);
      expect([...bucket.objects().keys()]).toEqual([`${prefix}${NAME}`]);
      expect(bucket.objects().get(`${prefix}${NAME}`)?.equals(bytes)).toBe(true);
      expect((await readAll(store.read(NAME, range, expected))).equals(bytes)).toBe(true);
      const part = await readAll(store.read(NAME, { first: 262_140, last: 524_290 }, expected));
      expect(part.equals(bytes.subarray(262_140, 524_291))).toBe(true);
      await store.remove(NAME);
      await store.remove(NAME);
      expect(bucket.objects().size).toBe(0);
      expect(await causeOf(readAll(store.read(NAME, range, expected)))).toBe(
        "gone: answered 404 (NoSuchKey)",
      );
      expect(await store.probe()).toBeNull();
      expect(bucket.objects().size).toBe(0);
      expect([store.fault, told]).toEqual([null, ["failed get"]]);
    },
  );

  test("refuses a wrong secret, another bucket and bytes that are not those of the SHA-256", async () => {
    const { settings } = await startVersitygw();
    const { source, expected } = file(pdf(1000));
    const wrong = clientOf({ ...settings, secretAccessKey: "another" }).store;
    expect(await causeOf(wrong.put(NAME, source, expected))).toBe(
      "unavailable: answered 403 (SignatureDoesNotMatch)",
    );
    const other = clientOf({ ...settings, bucket: "another-bucket" }).store;
    expect(await causeOf(other.put(NAME, source, expected))).toBe("unavailable: answered 404 (NoSuchBucket)");
    expect(await other.probe()).toBe("answered 404 (NoSuchBucket)");
    const { store } = clientOf(settings);
    const sha256 = "00".repeat(32);
    expect(await causeOf(store.put(NAME, source, { ...expected, sha256 }))).toBe(
      "unavailable: answered 400 (XAmzContentSHA256Mismatch)",
    );
    expect(store.isAway()).toBe(false);
  });
});

describe("a store that does not do what it is asked", () => {
  const OF_PUT: readonly (readonly [Treatment, string, number])[] = [
    ["fail", "answered 500 (InternalError)", 3],
    ["forbid", "answered 403 (AccessDenied)", 1],
    ["stall", "no answer within 300 ms (files.s3.timeoutMs)", 1],
    ["deaf", "no answer within 300 ms (files.s3.timeoutMs)", 1],
    ["redirect", "answered 307, which leads elsewhere: check files.s3.endpoint, region and pathStyle", 1],
    ["chatter", "answered 400", 1],
    ["cut", "no answer (UND_ERR_SOCKET)", 3],
    ["halve", "has 1500000 bytes of a file in place of 3000000", 1],
    ["forget", "answered 404", 1],
  ];
  test.each(OF_PUT)("does not count as keeping a file: %s", async (treatment, cause, attempts) => {
    const scripted = await treated(treatment);
    const { store, told } = clientOf(scripted.settings);
    const { source, expected } = file(pdf(3_000_000));
    expect(await causeOf(store.put(NAME, source, expected))).toBe(`unavailable: ${cause}`);
    expect(scripted.requests.filter((request) => request.startsWith("PUT"))).toHaveLength(attempts);
    const isAway = treatment !== "chatter";
    expect(told).toEqual(["failed put", ...(isAway ? [`fault: ${cause}`] : [])]);
    expect([store.isAway(), store.fault]).toEqual([isAway, isAway ? cause : null]);
  });

  const OF_GET: readonly (readonly [Treatment, string])[] = [
    ["fail", "answered 500 (InternalError)"],
    ["stall", "no answer within 300 ms (files.s3.timeoutMs)"],
    ["redirect", "answered 307, which leads elsewhere: check files.s3.endpoint, region and pathStyle"],
    ["lie", "has 2999999 bytes of a file in place of 3000000"],
    ["damage", "sent other bytes of a file than were stored"],
    ["cut", "no answer (UND_ERR_SOCKET)"],
  ];
  test.each(OF_GET)(
    "never gives a whole file that is not the one that was stored: %s",
    async (treatment, cause) => {
      const scripted = await treated(treatment, "GET");
      const { store } = clientOf(scripted.settings);
      const bytes = pdf(3_000_000);
      const { expected, range } = file(bytes);
      scripted.objects.set(NAME, bytes);
      let given = 0;
      const reading = (async () => {
        for await (const part of store.read(NAME, range, expected)) given += part.length;
      })();
      expect(await causeOf(reading)).toBe(`unavailable: ${cause}`);
      expect(given).toBeLessThan(expected.size);
    },
  );

  test("is asked again after it failed at once, and what it does then counts", async () => {
    const scripted = await startScriptedStore();
    const treatments: Treatment[] = ["cut", "fail"];
    scripted.treat = () => treatments.shift() ?? "ok";
    const { store, told } = clientOf(scripted.settings);
    const { source, expected } = file(pdf(600_000));
    await store.put(NAME, source, expected);
    expect(scripted.requests).toEqual([`PUT ${NAME}`, `PUT ${NAME}`, `PUT ${NAME}`, `HEAD ${NAME}`]);
    expect([told, scripted.objects.get(NAME)?.length]).toEqual([[], 600_000]);
  });

  test("recovers with the first request that it does", async () => {
    const scripted = await treated("forbid", "DELETE");
    const { store, told } = clientOf(scripted.settings);
    await causeOf(store.remove(NAME));
    expect([store.isAway(), store.fault]).toEqual([true, "answered 403 (AccessDenied)"]);
    scripted.treat = () => "ok";
    await store.remove(NAME);
    expect([store.isAway(), store.fault]).toEqual([false, null]);
    expect(told).toEqual(["failed delete", "fault: answered 403 (AccessDenied)", "recovered"]);
  });

  test("may stand behind the host's name: the bucket is before it", async () => {
    const { settings } = await startScriptedStore();
    const { port } = new URL(settings.endpoint);
    // Names below localhost are this machine.
    const endpoint = `http://localhost:${port}`;
    const { store, told } = clientOf({ ...settings, endpoint, pathStyle: false });
    const { source, expected } = file(pdf(1000));
    const outcome = await store.put(NAME, source, expected).then(
      () => "stored",
      (error: unknown) => String((error as FormsvcError).cause),
    );
    // A machine without names below localhost says which name it does not know.
    expect(outcome === "stored" || outcome.includes("ENOTFOUND")).toBe(true);
    expect(told.length === 0 || told.join().includes("ENOTFOUND")).toBe(true);
  });
});
