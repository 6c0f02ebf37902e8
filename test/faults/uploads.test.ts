import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { OperatorMachine } from "../support/operator-machine.ts";
import { isReady } from "../support/is-ready.ts";
import { until } from "../support/until.ts";
import { pdf, sha256, storedFiles } from "../support/uploads.ts";
import { PATIENCE_MS, report, sayMissing } from "./extent.ts";
import { type FaultServer, freePort, sleep, startServer } from "./server.ts";
import { attachStrace, hasStrace, type Tracing } from "./system-calls.ts";
import { killAt, machineWithForm, upload as uploadFiles } from "./uploading.ts";

if (!hasStrace) sayMissing("no upload is cut at each commit without strace", "apt-get install strace");

/** A file of three chunks. */
const BYTES = pdf(600_000);
const CHUNKS = 3;
/** Writes of the log that a chunk needs are more than these: 65 pages of 4 KiB, and their heads. */
const WRITES = 50;
/** The log beside uploads: 8,000 pages of 4 KiB, and as much again if the thread waits for a processor. */
const MAX_LOG_BYTES = 66_000_000;
/** Between two files of one client, who would take all of the processor without. */
const PAUSE_MS = 50;

const upload = (server: FaultServer, secret: string, key: string) =>
  uploadFiles(server, { secret, key, files: [BYTES] });

/** What the database has; every submission has its file with all bytes. */
function readDatabase(machine: OperatorMachine) {
  const db = openDatabase(machine.database, { busyTimeoutMs: 10_000 });
  try {
    const { files, chunks, bytesOf } = storedFiles(db);
    const submissions = db.prepare("SELECT id FROM submission ORDER BY id").pluck().all();
    const stored = files.filter(({ state }) => state === "stored");
    expect(new Set(stored.map(({ submission_id: id }) => id))).toEqual(new Set(submissions));
    for (const { id } of stored) expect(sha256(bytesOf(id))).toBe(sha256(BYTES));
    const begun = files.filter(({ state }) => state === "storing").map(({ id }) => bytesOf(id).length);
    return { submissions: submissions.length, files: files.length, chunks, begun };
  } finally {
    db.close();
  }
}

/** An hour passes, and the server starts anew: of what was cut off nothing is left. */
async function expectNothingElse(machine: OperatorMachine, submissions: number): Promise<void> {
  const db = openDatabase(machine.database, { busyTimeoutMs: 10_000 });
  db.prepare("UPDATE file SET created_at = created_at - 3700000 WHERE state = 'storing'").run();
  db.close();
  const server = await startServer(machine, await freePort());
  await until(() => readDatabase(machine).begun.length === 0);
  const left = { submissions, files: submissions, chunks: CHUNKS * submissions, begun: [] };
  expect(readDatabase(machine)).toEqual(left);
  expect(await server.end("SIGTERM")).toBe(0);
}

function fillDiskAtWrite({ pid }: FaultServer, number: number): Promise<Tracing> {
  const inject = `inject=pwrite64:error=ENOSPC:when=${number}+`;
  return attachStrace(pid, ["-o", "/dev/null", "-e", "trace=pwrite64", "-e", inject]);
}

test.skipIf(!hasStrace)(
  "wherever in an upload the server is killed, the form is there whole or not at all, and an hour later nothing else is left",
  { timeout: PATIENCE_MS },
  async () => {
    const { machine, secret, start } = await machineWithForm();
    const begun = new Set<number>();
    let server = await start();
    expect(await upload(server, secret, randomUUID())).toMatchObject({ status: 200 });
    let expected = 1;
    const cutAt = async (calls: string, number: number): Promise<boolean> => {
      const key = randomUUID();
      const tracing = await killAt(server, calls, number);
      const answer = await upload(server, secret, key);
      await tracing.stop();
      if (answer !== null) {
        expected += 1;
        return false;
      }
      const cut = readDatabase(machine);
      for (const bytes of cut.begun) begun.add(bytes);
      expect([expected, expected + 1]).toContain(cut.submissions);
      server = await start();
      expect(await upload(server, secret, key)).toMatchObject({ status: 200 });
      expected += 1;
      expect(readDatabase(machine).submissions).toBe(expected);
      return true;
    };
    let writes = 1;
    while (await cutAt("pwrite64", writes)) writes += WRITES;
    let syncs = 1;
    while (await cutAt("fsync,fdatasync", syncs)) syncs += 1;
    // The last round may have killed it after all was done.
    if (!(await isReady(server.port))) server = await start();
    expect(await server.end("SIGTERM")).toBe(0);
    // It was killed after each chunk but the last, whose commit and that of the form follow at once.
    expect([...begun].toSorted((left, right) => left - right)).toEqual(
      expect.arrayContaining([262_144, 524_288]),
    );
    expect(syncs).toBeGreaterThan(1);
    await expectNothingElse(machine, expected);
    report("kill -9 in an upload", {
      "rounds of writes": (writes - 1) / WRITES,
      "rounds of syncs": syncs - 1,
      lost: 0,
    });
  },
);

test.skipIf(!hasStrace)(
  "an upload during which the disk fills up is answered 503, whichever chunk it is at, and taken when there is room",
  { timeout: PATIENCE_MS },
  async () => {
    const { machine, secret, start } = await machineWithForm();
    const server = await start();
    expect(await upload(server, secret, randomUUID())).toMatchObject({ status: 200 });
    let expected = 1;
    let refused = 0;
    // In the first round the place beside the database, where files wait, is full too.
    for (let write = 1; ; write += WRITES) {
      const key = randomUUID();
      const tracing = await fillDiskAtWrite(server, write);
      const answer = await upload(server, secret, key);
      await tracing.stop();
      expected += 1;
      if (answer?.status === 200) break;
      expect(answer).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) as string });
      expect(readDatabase(machine).submissions).toBe(expected - 1);
      refused += 1;
      await until(async () => (await upload(server, secret, key))?.status === 200);
      expect(readDatabase(machine).submissions).toBe(expected);
    }
    expect(refused).toBeGreaterThan(2 * CHUNKS);
    expect(await server.end("SIGTERM")).toBe(0);
    await expectNothingElse(machine, expected);
    report("disk full in each chunk of an upload", { refused, lost: 0 });
  },
);

test.skipIf(!hasStrace)(
  "while files are stored, a thread copies the log into the database file, and the event loop a part at most",
  { timeout: PATIENCE_MS },
  async () => {
    const { machine, secret, start } = await machineWithForm();
    const server = await start();
    const file = machine.path("calls");
    const uploads = async (count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent += 1) {
        const files = [pdf(5_000_000, String(sent))];
        expect(await uploadFiles(server, { secret, key: randomUUID(), files })).toMatchObject({
          status: 200,
        });
      }
    };
    // The log is emptied once at the start, in the event loop, and the thread starts with the first file.
    await uploads(1);
    const trace = ["-y", "-e", "trace=pwrite64,fsync,fdatasync", "-e", "signal=none", "-o", file];
    const tracing = await attachStrace(server.pid, trace);
    await Promise.all([uploads(2), uploads(2), uploads(2), uploads(2)]);
    await tracing.stop();
    const calls = readFileSync(file, "utf8").split("\n");
    const ofDatabase = calls.filter((line) => line.includes(`<${machine.database}>`));
    const ofLoop = ofDatabase.filter((line) => line.startsWith(`${server.pid} `));
    // 40 MB in pages of 4 KiB, but for what is still in the log. The loop helps only if the thread gets no processor for long.
    expect(ofDatabase.length).toBeGreaterThan(2000);
    expect(ofLoop.length).toBeLessThan(ofDatabase.length / 3);
    expect(statSync(`${machine.database}-wal`).size).toBeLessThan(MAX_LOG_BYTES);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(server.log()).toBe("");
    report("copies of the log beside uploads", {
      "calls of the thread": ofDatabase.length,
      "of the loop": ofLoop.length,
    });
  },
);

test("a backup that is made while files are stored has each form that was taken before it, whole", async () => {
  const { machine, secret, start } = await machineWithForm({
    FORMSVC_FILES_MAX_BYTES_PER_ADDRESS_PER_DAY: "null",
  });
  const server = await start();
  const answered = new Set<string>();
  const state = { isMade: false };
  const uploads = async (client: number): Promise<void> => {
    while (!state.isMade) {
      const files = [pdf(2_000_000, String(client))];
      const answer = await uploadFiles(server, { secret, key: randomUUID(), files });
      expect(answer).toMatchObject({ status: 200 });
      if (!state.isMade && answer?.id !== undefined) answered.add(answer.id);
      await sleep(PAUSE_MS);
    }
  };
  const clients = [0, 1, 2].map(uploads);
  await until(() => answered.size >= 4);
  const before = [...answered];
  await machine.mustRun(["backup", "copy.db", "--quiet"]);
  state.isMade = true;
  await Promise.all(clients);
  expect(await server.end("SIGTERM")).toBe(0);
  const db = openDatabase(machine.path("copy.db"), { busyTimeoutMs: 10_000 });
  const { files, bytesOf } = storedFiles(db);
  const ids = new Set(db.prepare("SELECT id FROM submission").pluck().all());
  expect(before.filter((id) => !ids.has(id))).toEqual([]);
  const stored = files.filter(({ state: each }) => each === "stored");
  expect(stored.length).toBe(ids.size);
  for (const { id, sha256: hash } of stored) expect(sha256(bytesOf(id))).toBe(hash);
  db.close();
});
