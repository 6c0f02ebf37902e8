import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { OperatorMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";
import { pdf, sha256, storedFiles } from "../support/uploads.ts";
import { PATIENCE_MS, report, sayMissing } from "./extent.ts";
import { type FaultServer, freePort, startServer } from "./server.ts";
import { attachStrace, hasStrace, type Tracing } from "./system-calls.ts";
import { killAt, machineWithForm, upload as uploadFiles } from "./uploading.ts";

if (!hasStrace) sayMissing("no upload is cut at each commit without strace", "apt-get install strace");

/** A file of three chunks. */
const BYTES = pdf(600_000);
const CHUNKS = 3;
/** Writes of the log that a chunk needs are more than these: 65 pages of 4 KiB, and their heads. */
const WRITES = 50;

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
