import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { countDeletions, deleteWaiting } from "../../src/files/file-deletions.ts";
import { dropFiles, dropLostFiles } from "../../src/files/file-store.ts";
import { objectsOf, setObjectStore } from "../../src/files/object-store.ts";
import { S3Store } from "../../src/files/s3-store.ts";
import { newId } from "../../src/foundation/id.ts";
import { checkDeletions } from "../../src/submissions/files/files-health.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { sha256 } from "../support/uploads.ts";
import { type ScriptedStore, startScriptedStore } from "../support/scripted-store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

async function openStore(db: Database): Promise<ScriptedStore> {
  const scripted = await startScriptedStore();
  const quiet = { onFailure() {}, onFault() {}, onRecovery() {} };
  const settings = () => ({ region: "us-east-1", prefix: "", pathStyle: true, ...scripted.settings });
  const store = new S3Store({ settings, takesNew: true, observer: quiet });
  setObjectStore(db, store);
  onTestFinished(() => store.close());
  return scripted;
}

/** A file in the store that belongs to nothing any more. */
async function addLost(db: Database, scripted: ScriptedStore, state: "stored" | "storing"): Promise<string> {
  const id = newId("fil", NOON);
  scripted.objects.set(`${id}-0`, Buffer.from("bytes"));
  await write(
    db,
    `INSERT INTO file (id, endpoint_id, state, name, size, type, sha256, created_at, object_id)
      VALUES ('${id}', 'ep_1', '${state}', 'a', 5, 'text/plain', '00', ${NOON}, '${id}-0')`,
  );
  return id;
}

/** The store of these tests, as a running server has it. */
function storeOf(db: Database) {
  const store = objectsOf(db);
  if (store === null) throw new Error("the test opened none");
  return store;
}

const queued = (db: Database) =>
  rowsOf<{ object_id: string; attempts: number }>(db, "SELECT object_id, attempts FROM file_deletion");

describe.each(ENGINES)("objects of files that are gone, on $name", ({ temporary }) => {
  test("wait from the transaction that ends the file until the store has deleted them", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    const id = await addLost(db, scripted, "stored");
    await db.transaction(() => dropLostFiles(NOON));
    expect(await queued(db)).toEqual([{ object_id: `${id}-0`, attempts: 0 }]);
    expect((await db.read(() => countDeletions(NOON))).objects).toBe(1);
    expect(await deleteWaiting(db, NOON)).toBe(1);
    expect([scripted.objects.size, await queued(db)]).toEqual([0, []]);
  });

  test("are tried again later and later while the store refuses, and one that it never deletes holds up no other", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    const poison = await addLost(db, scripted, "stored");
    await db.transaction(() => dropLostFiles(NOON));
    scripted.treat = ({ name }) => (name.startsWith(poison) ? "forbid" : "ok");
    expect(await deleteWaiting(db, NOON)).toBe(0);
    await addLost(db, scripted, "stored");
    await db.transaction(() => dropLostFiles(NOON));
    expect(await deleteWaiting(db, NOON)).toBe(1);
    expect([...scripted.objects.keys()]).toEqual([`${poison}-0`]);
    const attempts: number[] = [];
    for (let minutes = 1; minutes <= 480; minutes += 1) {
      await deleteWaiting(db, NOON + minutes * MINUTE_MS);
      attempts.push((await queued(db))[0]?.attempts ?? 0);
    }
    // After 30 seconds, then twice as long each time, and every hour in the end.
    expect([attempts[0], attempts[10], attempts[59], attempts.at(-1)]).toEqual([2, 5, 7, 14]);
    scripted.treat = () => "ok";
    expect(await deleteWaiting(db, NOON + 540 * MINUTE_MS)).toBe(1);
    expect([scripted.objects.size, await queued(db)]).toEqual([0, []]);
  });

  test("end a round soon if the store takes long for each, because a server that stops waits for the round", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    for (let lost = 0; lost < 10; lost += 1) await addLost(db, scripted, "stored");
    while ((await db.transaction(() => dropLostFiles(NOON))) > 0);
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    scripted.treat = () => {
      vi.advanceTimersByTime(900);
      return "ok";
    };
    expect(await deleteWaiting(db, NOON)).toBe(3);
    expect(await queued(db)).toHaveLength(7);
  });

  test("whose post was cut off are deleted once more after an hour, because they may have been on their way", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    const id = await addLost(db, scripted, "storing");
    await db.transaction(() => dropLostFiles(NOON + HOUR_MS + 1));
    const now = NOON + HOUR_MS + 1;
    await deleteWaiting(db, now);
    scripted.objects.set(`${id}-0`, Buffer.from("late"));
    expect((await db.read(() => countDeletions(now))).objects).toBe(0);
    expect(await deleteWaiting(db, now + HOUR_MS - 1)).toBe(0);
    expect(await deleteWaiting(db, now + HOUR_MS)).toBe(1);
    expect([scripted.objects.size, await queued(db)]).toEqual([0, []]);
  });

  test("that a clock far ahead planned, to be tried again or once more, are deleted when the clock is right", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    const ahead = NOON + 365 * DAY_MS;
    await addLost(db, scripted, "stored");
    await db.transaction(() => dropLostFiles(NOON));
    scripted.treat = () => "fail";
    expect(await deleteWaiting(db, ahead)).toBe(0);
    scripted.treat = () => "ok";
    expect(await deleteWaiting(db, NOON)).toBe(1);
    const cutOff = await addLost(db, scripted, "storing");
    await db.transaction(() => dropLostFiles(ahead));
    await deleteWaiting(db, ahead);
    scripted.objects.set(`${cutOff}-0`, Buffer.from("late"));
    expect(await deleteWaiting(db, NOON)).toBe(1);
    expect([scripted.objects.size, await queued(db)]).toEqual([0, []]);
  });

  test("are deleted at once when somebody deletes them for good and the store answers; else they wait", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    const ids = [await addLost(db, scripted, "stored"), await addLost(db, scripted, "stored")];
    await dropFiles(db, ids);
    expect([scripted.objects.size, await queued(db)]).toEqual([0, []]);
    const later = await addLost(db, scripted, "stored");
    scripted.treat = () => "fail";
    await dropFiles(db, [later]);
    expect(await rowsOf(db, "SELECT id FROM file")).toEqual([]);
    expect(await queued(db)).toEqual([{ object_id: `${later}-0`, attempts: 0 }]);
  });

  test("are a problem for doctor when the oldest has waited for an hour, whose store answers others", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    const store = storeOf(db);
    const look = (minutes: number) => db.read(() => checkDeletions(store, NOON + minutes * MINUTE_MS));
    const id = await addLost(db, scripted, "stored");
    await db.transaction(() => dropLostFiles(NOON));
    // The engine's own clock says when it was lost.
    await write(db, `UPDATE file_deletion SET lost_at = ${NOON}`);
    scripted.treat = ({ name }) => (name.startsWith(id) ? "forbid" : "ok");
    expect(await deleteWaiting(db, NOON)).toBe(0);
    expect(await store.probe()).toBeNull();
    const waiting = "1 deleted file waits for the store of files, since 2026-";
    expect(await look(59)).toMatchObject({ ok: true, message: expect.stringContaining(waiting) });
    expect(await look(61)).toMatchObject({
      ok: false,
      name: "files.deletions",
      message: expect.stringContaining(waiting),
      advice: expect.stringContaining("an access key that may put, get and delete objects"),
    });
    scripted.treat = () => "ok";
    expect(await deleteWaiting(db, NOON + 60 * MINUTE_MS)).toBe(1);
    expect(await look(61)).toMatchObject({
      ok: true,
      message: "no deleted file waits for the store of files",
    });
  });

  test("are told with what the store failed at last, before any waits, until it answers again", async () => {
    const db = await temporary();
    const scripted = await openStore(db);
    const store = storeOf(db);
    const bytes = Buffer.from("bytes");
    const put = () =>
      store.put(
        "fil_1-0",
        { size: bytes.length, read: async () => bytes },
        {
          size: bytes.length,
          sha256: sha256(bytes),
        },
      );
    const look = () => db.read(() => checkDeletions(store, NOON));
    expect(await look()).toMatchObject({ ok: true });
    scripted.treat = () => "fail";
    await expect(put()).rejects.toMatchObject({ code: "unavailable" });
    expect(await look()).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^the S3-compatible store of files .*500/),
    });
    scripted.treat = () => "ok";
    await put();
    expect(await look()).toMatchObject({ ok: true });
  });

  test("and files in a store that the configuration names no longer are a problem", async () => {
    const db = await temporary();
    await openStore(db);
    const look = () => db.read(() => checkDeletions(null, NOON));
    expect(await look()).toMatchObject({ ok: true });
    const scripted = await openStore(db);
    await addLost(db, scripted, "stored");
    expect(await look()).toMatchObject({
      ok: false,
      message: expect.stringContaining("in an S3-compatible store that the configuration does not name"),
    });
  });
});
