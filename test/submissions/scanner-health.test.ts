import { createServer, type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { run } from "../../src/database/steps.ts";
import { countBacklog } from "../../src/files/scan-store.ts";
import { newId } from "../../src/foundation/id.ts";
import { checkScanner } from "../../src/submissions/files/scanner-health.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { scriptedClamd } from "../support/scripted-clamd.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const NONE = { files: 0, givenUp: 0, since: null, dueSince: null };
const keep = (clamd: string | null) => ({ clamd, whenUnscanned: "keep" }) as const;

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("files without a verdict are counted with the oldest, those of nobody are not", async () => {
    const db = await temporary();
    expect(await db.read(countBacklog)).toEqual(NONE);
    const { endpointId } = await addPlace(db);
    const [submissionId = null] = await storeSubmissions(db, [{ endpointId }]);
    const scans = [
      { createdAt: NOON - 3 * HOUR_MS, dueAt: null, isOwned: true },
      { createdAt: NOON - 2 * HOUR_MS, dueAt: NOON, isOwned: true },
      { createdAt: NOON, dueAt: NOON, isOwned: true },
      { createdAt: NOON - 9 * HOUR_MS, dueAt: NOON, isOwned: false },
    ];
    await db.transaction(function* () {
      for (const { createdAt, dueAt, isOwned } of scans) {
        const id = newId("fil", createdAt);
        const facts = { name: "a.pdf", size: 1, type: "application/pdf", sha256: "0" };
        const owner = { endpoint_id: endpointId, submission_id: isOwned ? submissionId : null };
        const file = { id, ...facts, ...owner, state: "stored", created_at: createdAt } as const;
        yield* run(query.insertInto("file").values(file));
        const scan = { file_id: id, state: "kept", wait_until: 0, due_at: dueAt } as const;
        yield* run(query.insertInto("file_scan").values(scan));
      }
    });
    expect(await db.read(countBacklog)).toEqual({
      files: 3,
      givenUp: 1,
      since: NOON - 3 * HOUR_MS,
      dueSince: NOON - 2 * HOUR_MS,
    });
  });
});

test("a scanner that answers is told with its version, and with the files that it has not judged", async () => {
  const { url } = await scriptedClamd();
  expect(await checkScanner(keep(url), NONE, NOON)).toMatchObject({
    ok: true,
    message: "ClamAV 1.4.3/27800/Mon Nov 23 answers; no file waits for its verdict",
  });
  const some = { files: 2, givenUp: 1, since: NOON, dueSince: NOON };
  expect(await checkScanner(keep(url), some, NOON + HOUR_MS - 1)).toMatchObject({
    ok: true,
    message: expect.stringMatching(
      /answers; 2 files have no verdict \(1 will not be tried again\), since 20/,
    ),
  });
  const oldGivenUp = { files: 1, givenUp: 1, since: NOON, dueSince: null };
  expect(await checkScanner(keep(url), oldGivenUp, NOON + 99 * HOUR_MS)).toMatchObject({ ok: true });
});

test("a scanner that answers and has not judged a file for an hour is a problem", async () => {
  const { url } = await scriptedClamd();
  const late = { files: 1, givenUp: 0, since: NOON, dueSince: NOON };
  expect(await checkScanner(keep(url), late, NOON + HOUR_MS)).toMatchObject({
    ok: false,
    message: expect.stringContaining("1 file has no verdict, since 20"),
    advice: expect.stringContaining("scan.failed"),
  });
});

test("a scanner that does not answer, or is none, is a problem that says what becomes of files", async () => {
  const clamd = await scriptedClamd("http");
  expect(await checkScanner(keep(clamd.url), NONE, NOON)).toMatchObject({
    ok: false,
    message: expect.stringMatching(/no clamd.*HTTP.*files are kept as not scanned/),
    advice: expect.stringContaining("files.clamd"),
  });
  await clamd.stop();
  const refuse = { clamd: clamd.url, whenUnscanned: "refuse" } as const;
  expect(await checkScanner(refuse, NONE, NOON)).toMatchObject({
    ok: false,
    message: expect.stringMatching(/ECONNREFUSED.*nobody may open files/),
  });
});

test("a scanner that takes the connection and says nothing keeps nobody waiting for more than three seconds", async () => {
  const server = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { ok, message } = await checkScanner(keep(`tcp://127.0.0.1:${port}`), NONE, NOON);
  expect({ ok, message }).toMatchObject({ ok: false, message: expect.stringContaining("within 3000 ms") });
});

test("without a scanner, files that nobody may open for want of one are a problem, others are not", async () => {
  const left = { files: 1, givenUp: 0, since: NOON, dueSince: NOON };
  const checked = (whenUnscanned: "keep" | "refuse", backlog: typeof left | typeof NONE) =>
    checkScanner({ clamd: null, whenUnscanned }, backlog, NOON + 9 * HOUR_MS);
  expect(await checked("refuse", NONE)).toMatchObject({
    ok: true,
    message: "files are not scanned for viruses",
  });
  expect(await checked("keep", left)).toMatchObject({ ok: true });
  expect(await checked("refuse", left)).toMatchObject({
    ok: false,
    message: expect.stringContaining("nobody may open them"),
  });
});
