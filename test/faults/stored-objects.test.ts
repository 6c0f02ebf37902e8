import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makeTokenHere } from "../support/machine-database.ts";
import type { OperatorMachine } from "../support/operator-machine.ts";
import { type ScriptedStore, startScriptedStore } from "../support/scripted-store.ts";
import { until } from "../support/until.ts";
import { pdf, sha256, storedFiles } from "../support/uploads.ts";
import { PATIENCE_MS, report, sayMissing } from "./extent.ts";
import type { FaultServer } from "./server.ts";
import { hasStrace } from "./system-calls.ts";
import { isDead, killAt, machineWithForm, upload, withStored } from "./uploading.ts";

if (!hasStrace)
  sayMissing(
    "no file is cut on its way to the store at each commit without strace",
    "apt-get install strace",
  );

const BYTES = pdf(600_000);

async function formWithStore() {
  const store = await startScriptedStore();
  const { settings } = store;
  const made = await machineWithForm({
    FORMSVC_FILES_STORAGE: "s3",
    FORMSVC_FILES_S3_ENDPOINT: settings.endpoint,
    FORMSVC_FILES_S3_BUCKET: settings.bucket,
    FORMSVC_FILES_S3_ACCESS_KEY_ID: settings.accessKeyId,
    FORMSVC_FILES_S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
  });
  const { machine, secret } = made;
  const token = await makeTokenHere(machine.folder);
  const send = (server: FaultServer, key: string) => upload(server, { secret, key, files: [BYTES] });
  /** Deletes a submission for good, its files at once. The status; null if the connection broke. */
  const remove = ({ port }: FaultServer, id: string): Promise<number | null> =>
    fetch(`http://127.0.0.1:${port}/api/v1/submissions/delete`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ submissions: [id], now: true }),
    }).then(
      ({ status }) => status,
      () => null,
    );
  return { ...made, store, send, remove };
}

type World = Awaited<ReturnType<typeof formWithStore>>;

/** What the database knows is in the store, with all its bytes. Returns the ids of all submissions. */
function expectWhole(machine: OperatorMachine, store: ScriptedStore): string[] {
  return withStored(machine, (db) => {
    const rows = db.prepare("SELECT object_id, submission_id FROM file WHERE state = 'stored'").all() as {
      readonly object_id: string;
      readonly submission_id: string | null;
    }[];
    const whole = rows.filter(({ submission_id: id }) => id !== null);
    for (const { object_id: id } of whole) expect(sha256(store.objects.get(id) ?? "")).toBe(sha256(BYTES));
    const ids = db.prepare("SELECT id FROM submission ORDER BY id").pluck().all() as string[];
    expect(whole.map(({ submission_id: id }) => String(id)).toSorted()).toEqual(ids);
    return ids;
  });
}

/** The clock goes on by an hour, as far as files know it. */
function passAnHour(machine: OperatorMachine): void {
  withStored(machine, (db) => {
    db.prepare("UPDATE file SET created_at = created_at - 3700000 WHERE state = 'storing'").run();
    db.prepare("UPDATE file_deletion SET next_at = 0").run();
  });
}

/** Whether no file lost its submission, and no object waits to be deleted now. */
function isDeleted(machine: OperatorMachine): boolean {
  return withStored(machine, (db) => {
    const waiting = db.prepare("SELECT count(*) FROM file_deletion WHERE next_at = 0").pluck().get();
    const { files } = storedFiles(db);
    return waiting === 0 && files.every(({ submission_id: id, state }) => id !== null || state === "storing");
  });
}

/** Of what was cut off nothing is left in the database and in the store. */
async function expectNoOrphans({ machine, store, start }: World): Promise<void> {
  // What was cut off is deleted twice, with an hour between: it may have been on its way the first time.
  for (let time = 1; time <= 2; time += 1) {
    passAnHour(machine);
    const server = await start();
    await until(() => isDeleted(machine));
    expect(await server.end("SIGTERM")).toBe(0);
  }
  withStored(machine, (db) => {
    const known = db.prepare("SELECT object_id FROM file WHERE submission_id IS NOT NULL ORDER BY object_id");
    expect([...store.objects.keys()].toSorted()).toEqual(known.pluck().all());
    expect(storedFiles(db).files.every(({ submission_id: id }) => id !== null)).toBe(true);
    expect(db.prepare("SELECT count(*) FROM file_deletion").pluck().get()).toBe(0);
  });
}

/** Has a server killed at some step. Call what it returns when the server has died or is through. */
type Cut = (server: FaultServer, number: number) => Promise<() => Promise<void>>;

/** Stores a form and deletes it, killed at the first step, then at the second, until a round is through. Returns how many were cut. */
async function cutEverywhere(world: World, cut: Cut): Promise<{ uploads: number; deletions: number }> {
  const { machine, store, send, remove, start } = world;
  const kept = new Set<string>();
  const rounds = { uploads: 0, deletions: 0 };
  let server = await start();
  for (let number = 1; ; number += 1) {
    const key = randomUUID();
    const end = await cut(server, number);
    const answer = await send(server, key);
    if (answer?.id !== undefined) await remove(server, answer.id);
    await until(() => isDead(server) || (answer !== null && isDeleted(machine)));
    const isCut = isDead(server);
    await end();
    if (!isCut) break;
    expect(expectWhole(machine, store)).toEqual(expect.arrayContaining([...kept]));
    rounds[answer === null ? "uploads" : "deletions"] += 1;
    server = await start();
    if (answer?.id !== undefined) expect([200, 404]).toContain(await remove(server, answer.id));
    else {
      const again = await send(server, key);
      expect(again?.status).toBe(200);
      kept.add(again?.id ?? "");
    }
  }
  // The last round may have killed it after all was done.
  await server.end("SIGTERM");
  await expectNoOrphans(world);
  expect(expectWhole(machine, store)).toEqual([...kept].toSorted());
  return rounds;
}

test.skipIf(!hasStrace)(
  "wherever the server is killed at a commit, a form with files in the store is there whole or not at all, and no object is left over",
  { timeout: PATIENCE_MS },
  async () => {
    const world = await formWithStore();
    const rounds = await cutEverywhere(world, async (server, number) => {
      const tracing = await killAt(server, "fsync,fdatasync", number);
      return () => tracing.stop();
    });
    expect(rounds.uploads).toBeGreaterThan(1);
    expect(rounds.deletions).toBeGreaterThan(0);
    report("kill -9 at a commit, files in a store", { ...rounds, lost: 0, orphans: 0 });
  },
);

test(
  "at whichever request to the store the server is killed, a form with files is there whole or not at all, and no object is left over",
  { timeout: PATIENCE_MS },
  async () => {
    const world = await formWithStore();
    const rounds = await cutEverywhere(world, async ({ process }, number) => {
      let left = number;
      world.store.treat = () => {
        left -= 1;
        if (left === 0) process.kill("SIGKILL");
        return "ok";
      };
      return async () => void (world.store.treat = () => "ok");
    });
    // The object is sent, asked for, and deleted.
    expect(rounds.uploads).toBeGreaterThan(1);
    expect(rounds.deletions).toBeGreaterThan(0);
    report("kill -9 at a request to the store", { ...rounds, lost: 0, orphans: 0 });
  },
);
