import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Clamd, ScanFailure } from "../../src/files/clamd.ts";
import { type Behaviour, EICAR, scriptedClamd } from "../support/scripted-clamd.ts";
import { pdf } from "../support/uploads.ts";

const PATIENT = { connectMs: 10_000, stallMs: 10_000, answerMs: 10_000 };

async function* partsOf(bytes: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("a clean file is clean, and the scanner gets its bytes as they are", async () => {
  const server = await scriptedClamd();
  const bytes = pdf(1_000_000);
  expect(await new Clamd(server.address, PATIENT).scan(() => partsOf(bytes))).toEqual({ isClean: true });
  expect(server.files[0]?.equals(bytes)).toBe(true);
});

test("a scan that ended leaves nothing on the signal that would have stopped it", async () => {
  const { signal } = new AbortController();
  const clamd = new Clamd((await scriptedClamd()).address, PATIENT);
  for (let scans = 0; scans < 3; scans += 1) await clamd.scan(() => partsOf(pdf()), signal);
  const lost = new Clamd((await scriptedClamd("close")).address, PATIENT);
  await expect(lost.scan(() => partsOf(pdf(300_000)), signal)).rejects.toThrow(ScanFailure);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a scan that is stopped ends at once, also one that was stopped before it began", async () => {
  const clamd = new Clamd((await scriptedClamd("stall")).address, PATIENT);
  const stopping = new AbortController();
  const scan = clamd.scan(() => partsOf(pdf()), stopping.signal);
  stopping.abort();
  await expect(scan).rejects.toThrow(ScanFailure);
  await expect(clamd.scan(() => partsOf(pdf()), stopping.signal)).rejects.toThrow(ScanFailure);
});

test("a file with a virus is told with the name of the virus", async () => {
  const server = await scriptedClamd();
  const bytes = Buffer.concat([pdf(300_000), Buffer.from(EICAR)]);
  expect(await new Clamd(server.address, PATIENT).scan(() => partsOf(bytes))).toEqual({
    isClean: false,
    virus: "Eicar-Test-Signature",
  });
});

test.each<[Behaviour, ScanFailure["blame"], RegExp]>([
  ["close", "file", /closed the connection|broke/],
  ["close-in-the-middle", "file", /closed the connection|broke/],
  ["half-an-answer", "scanner", /no clamd/],
  ["endless-answer", "scanner", /no clamd/],
  ["http", "scanner", /no clamd.*HTTP/],
  ["error", "file", /Can't allocate memory ERROR/],
])("a scanner that does '%s' gives no verdict", async (behaviour, blame, message) => {
  const server = await scriptedClamd(behaviour);
  const failure: unknown = await new Clamd(server.address, PATIENT)
    .scan(() => partsOf(pdf(300_000)))
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ScanFailure);
  expect((failure as ScanFailure).blame).toBe(blame);
  expect((failure as ScanFailure).message).toMatch(message);
  expect((failure as ScanFailure).message.length).toBeLessThan(400);
});

test("a file that is larger than the scanner takes is never scanned", async () => {
  const server = await scriptedClamd("too-large");
  const failure: unknown = await new Clamd(server.address, PATIENT)
    .scan(() => partsOf(pdf(110_000)))
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ blame: "refused", message: expect.stringContaining("StreamMaxLength") });
});

test("a scanner that hangs up while a file is sent is asked again at once, with the whole file, and not for ever", async () => {
  const server = await scriptedClamd("close-in-the-middle");
  const clamd = new Clamd(server.address, PATIENT);
  const bytes = pdf(3_000_000);
  const read = (): AsyncIterable<Buffer> => {
    if (server.connections === 2) server.behaviour = "judge";
    return partsOf(bytes);
  };
  expect(await clamd.scan(read)).toEqual({ isClean: true });
  expect(server.connections).toBe(3);
  expect(server.files.map((file) => file.equals(bytes))).toEqual([true]);
  server.behaviour = "close-in-the-middle";
  await expect(clamd.scan(() => partsOf(bytes))).rejects.toMatchObject({ blame: "file" });
  expect(server.connections).toBe(3 + 5);
});

test("a verdict that comes before the end of the file is none", async () => {
  const server = await scriptedClamd("early-ok");
  const endless = async function* (): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.alloc(10_000);
  };
  await expect(new Clamd(server.address, PATIENT).scan(() => endless())).rejects.toMatchObject({
    blame: "scanner",
  });
});

test("a scanner that says nothing about a file is given up after its time", async () => {
  const server = await scriptedClamd("stall");
  const clamd = new Clamd(server.address, { ...PATIENT, answerMs: 50 });
  await expect(clamd.scan(() => partsOf(pdf()))).rejects.toThrow(/gave no verdict within 50 ms/);
});

test("a scanner that takes no bytes is given up after its time", async () => {
  const server = await scriptedClamd("deaf");
  const clamd = new Clamd(server.address, { ...PATIENT, stallMs: 50 });
  const many = partsOf(Buffer.alloc(64_000_000), 1_048_576);
  await expect(clamd.scan(() => many)).rejects.toThrow(/stopped to take the file within 50 ms/);
});

test("a scanner that is not there is told as that, with its address's error", async () => {
  const server = await scriptedClamd();
  await server.stop();
  await expect(new Clamd(server.address, PATIENT).scan(() => partsOf(pdf()))).rejects.toMatchObject({
    blame: "scanner",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  await expect(new Clamd({ path: "/nowhere/clamd.ctl" }, PATIENT).version()).rejects.toThrow("ENOENT");
});

test("a scan that nobody wants any more ends at once", async () => {
  const server = await scriptedClamd("stall");
  const stop = new AbortController();
  server.before = () => Promise.resolve(stop.abort());
  await expect(
    new Clamd(server.address, PATIENT).scan(() => partsOf(pdf()), stop.signal),
  ).rejects.toBeInstanceOf(ScanFailure);
});

test("its version is told; another program's greeting is none", async () => {
  const server = await scriptedClamd();
  const clamd = new Clamd(server.address, PATIENT);
  expect(await clamd.version()).toBe("ClamAV 1.4.3/27800/Mon Nov 23");
  server.behaviour = "http";
  await expect(clamd.version()).rejects.toMatchObject({ blame: "scanner" });
});

test("what reads the file may fail, and that error is told", async () => {
  const server = await scriptedClamd();
  const failing = async function* (): AsyncGenerator<Buffer> {
    yield pdf();
    throw new Error("the file was deleted while it was read");
  };
  await expect(new Clamd(server.address, PATIENT).scan(() => failing())).rejects.toThrow(
    "deleted while it was read",
  );
});
