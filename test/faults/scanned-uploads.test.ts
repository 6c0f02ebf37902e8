import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import type { OperatorMachine } from "../support/operator-machine.ts";
import { type Received, startReceiverWith } from "../support/receivers.ts";
import { EICAR, scriptedClamd } from "../support/scripted-clamd.ts";
import { until } from "../support/until.ts";
import { type PostedFacts, pdf, sha256, storedFiles } from "../support/uploads.ts";
import { PATIENCE_MS, report, sayMissing } from "./extent.ts";
import type { FaultServer } from "./server.ts";
import { hasStrace } from "./system-calls.ts";
import { isDead, killAt, machineWithForm, upload, withStored } from "./uploading.ts";

if (!hasStrace)
  sayMissing("no scan of a file is cut at each commit without strace", "apt-get install strace");

const CLEAN = pdf(300_000);
const INFECTED = Buffer.concat([pdf(600_000, "b"), Buffer.from(EICAR)]);
const FILES = [CLEAN, INFECTED];
const OPEN_SQL = "SELECT (SELECT count(*) FROM file_scan) + (SELECT count(*) FROM scan_wait)";

/** Whether every file is judged, no message waits for that, and nothing is left of what was to be deleted. */
function isSettled(machine: OperatorMachine): boolean {
  return withStored(machine, (db) => {
    const lost = storedFiles(db).files.filter(({ submission_id: id }) => id === null);
    return db.prepare(OPEN_SQL).pluck().get() === 0 && lost.length === 0;
  });
}

const OPEN_MESSAGES_SQL = `SELECT (SELECT count(*) FROM submission WHERE event_head IS NOT NULL)
  - (SELECT count(*) FROM delivery WHERE state = 'delivered')`;

/** Whether every message is delivered too. */
function isAtRest(machine: OperatorMachine): boolean {
  return isSettled(machine) && withStored(machine, (db) => db.prepare(OPEN_MESSAGES_SQL).pluck().get() === 0);
}

interface Told {
  readonly id: string;
  readonly data: { readonly cv: readonly (PostedFacts & { readonly verdict?: string })[] };
}

function expectVerdicts({ data: { cv } }: Told): void {
  expect(cv.map(({ state, verdict }) => [state, verdict])).toEqual([
    [undefined, undefined],
    ["infected", "Eicar-Test-Signature"],
  ]);
}

/** Every submission has its clean file with all bytes, and the verdict of the infected one. Returns their ids. */
function expectJudged(machine: OperatorMachine): string[] {
  return withStored(machine, (db) => {
    const rows = db.prepare("SELECT id, data FROM submission ORDER BY id").all() as {
      readonly id: string;
      readonly data: string;
    }[];
    const { files, chunks, bytesOf } = storedFiles(db);
    expect(files.map(({ submission_id: id }) => String(id)).toSorted()).toEqual(rows.map(({ id }) => id));
    expect(chunks).toBe(2 * rows.length);
    for (const { id, data } of rows) {
      const told: Told = { id, data: JSON.parse(data) as Told["data"] };
      expectVerdicts(told);
      expect(sha256(bytesOf(told.data.cv[0]?.id ?? ""))).toBe(sha256(CLEAN));
    }
    return rows.map(({ id }) => id);
  });
}

/** Each of these submissions comes with its verdicts, in one message, however often that was sent. */
async function expectMessages(received: readonly Received[], ids: readonly string[]): Promise<void> {
  const told = () => {
    const messages = new Map<string, Set<unknown>>();
    for (const { headers, body } of received) {
      const { submission } = JSON.parse(body.toString("utf8")) as { submission: Told };
      expectVerdicts(submission);
      const sent = messages.get(submission.id) ?? new Set();
      messages.set(submission.id, sent.add(headers["webhook-id"]));
    }
    return messages;
  };
  await until(() => told().size >= ids.length);
  expect([...told().keys()].toSorted()).toEqual(ids);
  for (const sent of told().values()) expect(sent.size).toBe(1);
}

async function scannedForm() {
  const clamd = await scriptedClamd();
  const receiver = await startReceiverWith((response) => void response.end());
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const made = await machineWithForm({
    FORMSVC_FILES_CLAMD: clamd.url,
    FORMSVC_WEBHOOKS_ALLOW_NETWORKS: JSON.stringify(["127.0.0.1"]),
  });
  const db = openDatabase(made.machine.database, { busyTimeoutMs: 10_000 });
  await db.transaction(() => addWebhooks(made.endpoint.id, receiver.url, 1));
  db.close();
  const send = (server: FaultServer, key: string) =>
    upload(server, { secret: made.secret, key, files: FILES });
  return { ...made, clamd, send, received: receiver.received };
}

test.skipIf(!hasStrace)(
  "wherever the server is killed from a form's first byte to the end of its files' scan, each file is judged and each message is sent",
  { timeout: PATIENCE_MS },
  async () => {
    const { machine, send, start, received } = await scannedForm();
    const acknowledged = new Set<string>();
    let afterAnswer = 0;
    let server = await start();
    const cutAt = async (number: number): Promise<boolean> => {
      const key = randomUUID();
      // Commits call fsync. What is written ahead of them, with fdatasync, ends nothing.
      const tracing = await killAt(server, "fsync", number);
      const answer = await send(server, key);
      if (answer?.id !== undefined) acknowledged.add(answer.id);
      await until(() => isDead(server) || (answer !== null && isSettled(machine)));
      const isCut = isDead(server);
      await tracing.stop();
      if (!isCut) return false;
      if (answer !== null) afterAnswer += 1;
      server = await start();
      const again = await send(server, key);
      expect(again).toMatchObject({ status: 200, ...(answer !== null && { id: answer.id }) });
      acknowledged.add(again?.id ?? "");
      // The next round counts its own commits alone.
      await until(() => isAtRest(machine));
      return true;
    };
    let syncs = 1;
    while (await cutAt(syncs)) syncs += 1;
    // An hour passes.
    withStored(machine, (db) =>
      db.prepare("UPDATE file SET created_at = created_at - 3700000 WHERE state = 'storing'").run(),
    );
    // Its last round may have killed it after all was done.
    await server.end("SIGTERM");
    server = await start();
    await until(() => isSettled(machine));
    const ids = [...acknowledged].toSorted();
    expect(expectJudged(machine)).toEqual(ids);
    await expectMessages(received, ids);
    expect(await server.end("SIGTERM")).toBe(0);
    // The claim, the verdicts, the end of the infected bytes and the queued message are commits after the answer, of which one may have two.
    expect(afterAnswer).toBeGreaterThan(2);
    report("kill -9 in a scan", { rounds: syncs - 1, "after the answer": afterAnswer, lost: 0 });
  },
);

test("a server that is killed while the scanner thinks has the files scanned anew at its next start", async () => {
  const { machine, send, start, clamd, received } = await scannedForm();
  const isAsked = Promise.withResolvers<void>();
  clamd.before = () => {
    isAsked.resolve();
    return new Promise(() => {});
  };
  const killed = await start();
  const answer = await send(killed, randomUUID());
  await isAsked.promise;
  expect(await killed.end("SIGKILL")).toBe(null);
  clamd.before = async () => {};
  const server = await start();
  await until(() => isSettled(machine));
  expect(expectJudged(machine)).toEqual([answer?.id]);
  await expectMessages(received, expectJudged(machine));
  expect(await server.end("SIGTERM")).toBe(0);
});
