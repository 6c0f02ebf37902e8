import { describe, expect, onTestFinished, test } from "vitest";
import { Clamd, type ClamdTimes } from "../../src/files/clamd.ts";
import { createFileLinks } from "../../src/files/file-links.ts";
import { readBytes } from "../../src/files/read-file.ts";
import { claimScans, SCAN_LEASE_MS } from "../../src/files/scan-store.ts";
import { type Database, query } from "../../src/database/database.ts";
import { run } from "../../src/database/steps.ts";
import { newId } from "../../src/foundation/id.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { FileScanner } from "../../src/submissions/files/file-scanner.ts";
import { findNotSent } from "../../src/submissions/stored/submission-store.ts";
import { parseConditions, writeConditions } from "../../src/outbox/queue/conditions.ts";
import { addWithFiles, storeFiles } from "../../src/submissions/receive/store-files.ts";
import { addPlace, batchServer } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { type Behaviour, EICAR, scriptedClamd } from "../support/scripted-clamd.ts";
import { silentLog } from "../support/silent-log.ts";
import { changeSchema } from "../support/terminal.ts";
import { until } from "../support/until.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";
import { fileStoring, pdf, sha256, uploadingTo } from "../support/uploads.ts";

const WAIT_MS = 60_000;
const PATIENT: ClamdTimes = { connectMs: 30_000, stallMs: 30_000, answerMs: 30_000 };
const INFECTED = Buffer.concat([pdf(300_000, "b"), Buffer.from(EICAR)]);

interface StoredFile {
  readonly id: string;
  readonly state?: string;
  readonly verdict?: string;
  readonly url?: string;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function setUp(behaviour: Behaviour = "judge") {
    const db = await temporary();
    const clamd = await scriptedClamd(behaviour);
    const clock = createFakeClock();
    const { queue } = batchServer(db);
    const place = await addPlace(db);
    await place.recipient(100);
    const links = createFileLinks({
      db,
      keyring: createKeyring({ keyFile: null, key: null }),
      baseUrl: "https://files.example.com",
      days: 7,
    });
    const linkFiles: typeof links.link = (...data) => links.link(...data);
    const parts = { ...fileStoring(db, queue), linkFiles, scanWaitMs: WAIT_MS };

    /** A post with these files, which are before the scanner when it is answered. */
    const post = async (...bodies: Buffer[]): Promise<string> => {
      const files = bodies.map((bytes) => ({
        facts: {
          id: newId("fil", clock.now()),
          name: "cv.pdf",
          size: bytes.length,
          type: "application/pdf",
          sha256: sha256(bytes),
        },
        source: {
          size: bytes.length,
          read: async (offset: number, length: number) => bytes.subarray(offset, offset + length),
        },
      }));
      const uploading = uploadingTo(place.endpointId);
      const taken = await storeFiles(parts, files, { uploading, createdAt: clock.now() });
      if (taken === null) throw new Error("there are files");
      const data = { name: "Ana", cv: files.map(({ facts }) => facts) };
      const pending = {
        ...place.pending({ of: { data, createdAt: clock.now() } }),
      };
      const fileIds = taken.files.map(({ id }) => id);
      expect(await addWithFiles(parts, { ...pending, fileIds }, taken)).toBe("stored");
      return pending.submission.id;
    };
    const scanner = (times = PATIENT) => {
      const made = new FileScanner({
        db,
        clamd: new Clamd(clamd.address, times),
        whenUnscanned: "kept",
        linkFiles: (...row) => links.linkRow(...row),
        clock,
        log: silentLog,
        count: () => {},
        onQueued: () => {},
        onDeleted: () => {},
      });
      onTestFinished(() => made.stop());
      return made;
    };
    return { db, clamd, clock, place, post, scanner };
  }

  async function filesOf(db: Database, id: string): Promise<readonly StoredFile[]> {
    const rows = await rowsOf<{ data: string }>(db, `SELECT data FROM submission WHERE id = '${id}'`);
    return (JSON.parse(rows[0]?.data ?? "") as { cv: StoredFile[] }).cv;
  }

  /** The messages that were queued, by submission; each stands there as often as it was queued. */
  async function queued(db: Database): Promise<string[]> {
    const rows = await rowsOf<{ messages: string }>(db, "SELECT messages FROM outbox ORDER BY number");
    return rows.flatMap(({ messages }) => (JSON.parse(messages) as string[][]).map(([, id]) => id ?? ""));
  }

  async function messageOf(db: Database, id: string): Promise<readonly StoredFile[]> {
    const rows = await rowsOf<{ event_head: string }>(
      db,
      `SELECT event_head FROM submission WHERE id = '${id}'`,
    );
    const message = JSON.parse(rows[0]?.event_head ?? "") as { submission: { data: { cv: StoredFile[] } } };
    return message.submission.data.cv;
  }

  test("a message is queued once, when all files of its post have their verdict, and tells it", async () => {
    const { db, post, scanner } = await setUp();
    const id = await post(pdf(600_000), INFECTED);
    expect((await filesOf(db, id)).map(({ state }) => state)).toEqual(["scanning", "scanning"]);
    expect(await queued(db)).toEqual([]);
    scanner().start();
    await until(async () => (await queued(db)).length > 0);
    expect(await queued(db)).toEqual([id]);
    const verdict = { state: "infected", verdict: "Eicar-Test-Signature" };
    const [clean, infected] = await filesOf(db, id);
    expect(clean).not.toHaveProperty("state");
    expect(infected).toMatchObject(verdict);
    expect(await messageOf(db, id)).toMatchObject([{ url: expect.any(String) }, verdict]);
    await until(async () => (await rowsOf(db, "SELECT id FROM file")).length === 1);
    expect(await rowsOf(db, "SELECT file_id FROM file_scan")).toEqual([]);
    expect(await rowsOf(db, "SELECT submission_id FROM scan_wait")).toEqual([]);
  });

  /** A post that waits, a recipient of each kind for it, and what each condition of theirs says now. */
  async function waitingPost({ db, place, post }: Awaited<ReturnType<typeof setUp>>) {
    const [{ id: everyone } = { id: "" }] = await rowsOf<{ id: string }>(db, "SELECT id FROM recipient");
    const when = (...written: string[]) => place.recipient(100, "webhook", parseConditions(written));
    const met = [await when("name=ana"), await when("!email")];
    const unmet = [await when("name=Bo"), await when("email")];
    const id = await post(pdf(), INFECTED);
    const change = (recipient: string | undefined, written: string) =>
      db.transaction(() =>
        run(
          query
            .updateTable("recipient")
            .set({ conditions: writeConditions(parseConditions([written])) })
            .where("id", "=", recipient ?? ""),
        ),
      );
    return { id, everyone, met, unmet, when, change };
  }

  async function told(db: Database, atLeast: number): Promise<readonly string[]> {
    await until(async () => (await queued(db)).length >= atLeast);
    const rows = await rowsOf<{ recipient_id: string }>(db, "SELECT recipient_id FROM outbox");
    return rows.map(({ recipient_id: recipient }) => recipient).toSorted();
  }

  test("conditions of a post whose files wait for their scan are decided with the post: what is changed before the verdict has no effect", async () => {
    const made = await setUp();
    const { db, place, scanner } = made;
    const { id, everyone, met, unmet, when, change } = await waitingPost(made);
    expect(await queued(db)).toEqual([]);
    const left = [
      { id: unmet[0], kind: "webhook", field: "name", is: "=", value: "Bo" },
      { id: unmet[1], kind: "webhook", field: "email", is: "filled", value: "" },
    ];
    const notSent = async () =>
      (await db.read(() => findNotSent(id))).toSorted((one, other) => (one.field < other.field ? 1 : -1));
    expect(await notSent()).toEqual(left);
    await change(met[0], "name=Bo");
    await change(everyone, "email");
    await change(unmet[0], "name=ana");
    await when("name=ana");
    await db.transaction(() => changeSchema(place.endpointId, { topic: { type: "string" } }, 1));
    scanner().start();
    expect(await told(db, 3)).toEqual([everyone, ...met].toSorted());
    expect(await notSent()).toEqual(left);
  });

  test("who is deleted before the verdict gets no message, and the others get theirs", async () => {
    const made = await setUp();
    const { db, scanner } = made;
    const { everyone, met } = await waitingPost(made);
    await db.transaction(() => run(query.deleteFrom("recipient").where("id", "=", met[0] ?? "")));
    scanner().start();
    expect(await told(db, 2)).toEqual([everyone, met[1] ?? ""].toSorted());
  });

  test("a post that waits since an earlier version is sent to those whose conditions it meets at the verdict", async () => {
    const made = await setUp();
    const { db, scanner } = made;
    const { id, everyone, met, unmet } = await waitingPost(made);
    await db.transaction(() => run(query.updateTable("scan_wait").set({ recipients: null })));
    scanner().start();
    expect(await told(db, 3)).toEqual([everyone, ...met].toSorted());
    const left = await db.read(() => findNotSent(id));
    expect(left.map((each) => each.id).toSorted()).toEqual(unmet.toSorted());
  });

  test("of several servers one scans each file, and each message is queued once", async () => {
    const { db, clamd, post, scanner } = await setUp();
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1) ids.push(await post(pdf(70_000, String(index))));
    const servers = [scanner(), scanner(), scanner()];
    for (const each of servers) each.start();
    await until(async () => (await queued(db)).length >= ids.length);
    for (const each of servers) await each.stop();
    expect((await queued(db)).toSorted()).toEqual(ids.toSorted());
    expect(clamd.files).toHaveLength(ids.length);
  });

  test("what a server was scanning that was killed, another one scans when its lease ends", async () => {
    const { db, clock, clamd, post, scanner } = await setUp();
    const id = await post(pdf());
    expect(await db.transaction(() => claimScans(clock.now(), 4))).toHaveLength(1);
    const other = scanner();
    other.start();
    clock.advance(SCAN_LEASE_MS - 1);
    expect(await db.transaction(() => claimScans(clock.now(), 4))).toEqual([]);
    expect(clamd.connections).toBe(0);
    clock.advance(1);
    await until(async () => (await queued(db)).length > 0);
    expect(await queued(db)).toEqual([id]);
    expect((await filesOf(db, id))[0]).not.toHaveProperty("state");
  });

  test.each<Behaviour>([
    "close",
    "close-in-the-middle",
    "half-an-answer",
    "endless-answer",
    "http",
    "error",
    "stall",
  ])(
    "a scanner that does '%s' holds a message up until the wait is over, and no longer",
    async (behaviour) => {
      const { db, clock, clamd, post, scanner } = await setUp(behaviour);
      const id = await post(pdf(200_000));
      const server = scanner();
      server.start();
      await until(() => clamd.connections > 0);
      expect(await queued(db)).toEqual([]);
      clock.advance(WAIT_MS);
      await until(async () => (await queued(db)).length > 0);
      expect(await filesOf(db, id)).toMatchObject([{ state: "unscanned" }]);
      expect(await messageOf(db, id)).toMatchObject([{ state: "unscanned", url: expect.any(String) }]);
    },
  );

  /** A post whose file the scanner could not scan while the clock was a year ahead, and what sets the clock right. */
  async function failedAhead() {
    const made = await setUp("error");
    const { db, clock, post, scanner } = made;
    clock.advance(365 * DAY_MS);
    const id = await post(pdf());
    scanner().start();
    await until(async () => (await rowsOf(db, "SELECT 1 FROM file_scan WHERE attempts = 1")).length > 0);
    expect(await queued(db)).toEqual([]);
    return { ...made, id, setRight: () => clock.advance(-365 * DAY_MS) };
  }

  test("after a clock that was a year ahead, a message waits for its scan no longer than usual", async () => {
    const { db, id, setRight } = await failedAhead();
    setRight();
    await until(async () => (await queued(db)).length > 0);
    expect(await queued(db)).toEqual([id]);
  });

  test("after a clock that was a year ahead, a file is scanned again without waiting for that time", async () => {
    const { db, clamd, id, setRight } = await failedAhead();
    clamd.behaviour = "judge";
    setRight();
    await until(async () => (await rowsOf(db, "SELECT file_id FROM file_scan")).length === 0);
    expect((await filesOf(db, id))[0]).not.toHaveProperty("state");
  });

  test("a file that is larger than the scanner takes waits no longer, and is not tried again", async () => {
    const { db, clamd, post, scanner } = await setUp("too-large");
    const id = await post(pdf(110_000));
    scanner().start();
    await until(async () => (await queued(db)).length > 0);
    expect(await filesOf(db, id)).toMatchObject([{ state: "unscanned" }]);
    expect(await rowsOf(db, "SELECT state, due_at FROM file_scan")).toEqual([
      { state: "kept", due_at: null },
    ]);
    expect(clamd.connections).toBe(1);
  });

  test("a scanner that judges late still ends a file with a virus, whose message went before", async () => {
    const { db, clock, clamd, post, scanner } = await setUp();
    const gate = Promise.withResolvers<void>();
    clamd.before = () => gate.promise;
    const id = await post(INFECTED);
    scanner().start();
    await until(() => clamd.files.length > 0);
    clock.advance(WAIT_MS);
    await until(async () => (await queued(db)).length > 0);
    gate.resolve();
    await until(async () => (await filesOf(db, id))[0]?.state === "infected");
    await until(async () => (await rowsOf(db, "SELECT id FROM file")).length === 0);
    expect(await queued(db)).toEqual([id]);
  });

  test("a scan takes a file from the database in parts", async () => {
    const { db, post } = await setUp();
    await post(pdf(1_000_000));
    const [file] = await rowsOf<{ id: string }>(db, "SELECT id FROM file");
    const sizes: number[] = [];
    for await (const part of readBytes(db, file?.id ?? "", { first: 0, last: 999_999 }))
      sizes.push((part as Buffer).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(262_144);
  });
});
