import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { newId } from "../../src/foundation/id.ts";
import { findFormat } from "../../src/submissions/import/examine-import.ts";
import { importSubmissions } from "../../src/submissions/import/import-submissions.ts";
import { readSubmissions } from "../../src/submissions/stored/submission-store.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { asSubmission } from "../support/add-submission.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { performOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";

/** A source of these lines, some of which come later. */
function sourceOf(lines: readonly string[]) {
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const line of lines) yield await Promise.resolve(Buffer.from(`${line}\n`));
  }
  return { source: { name: "all.ndjson", bytes, longestPieceBytes: 1_048_576, mostMembers: 22_000 } };
}

const lineOf = (endpointId: string, data: Record<string, unknown> = {}): string =>
  JSON.stringify(submissionJson(asSubmission({ endpointId, data, createdAt: NOON })));

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a dry run tells what is not there yet and stores nothing, and an import ends with its form", async () => {
    const db = await temporary();
    const { shop, actor } = await twoOwners(db);
    const lines = Array.from({ length: 700 }, (_, index) => lineOf(shop.endpoint, { index }));
    const count = async () =>
      Number((await rowsOf<{ n: number }>(db, "SELECT count(*) AS n FROM submission"))[0]?.n);
    const before = await count();
    const dry = { dry_run: true };
    const bring = (given: readonly string[], input: { dry_run?: boolean } = {}) =>
      performOn(db, importSubmissions, input, { actor, parts: sourceOf(given) });
    expect(await bring(lines, dry)).toEqual({ imported: { added: 700, known: 0 } });
    // The first and the last are more than a batch apart.
    const twice = [...lines, lines[0] ?? "", lines[699] ?? ""];
    expect(await bring(twice, dry)).toEqual({ imported: { added: 700, known: 2 } });
    expect(await count()).toBe(before);
    await bring(lines.slice(0, 10));
    expect(await bring(lines, dry)).toEqual({ imported: { added: 690, known: 10 } });
    const onProgress = async (): Promise<void> => write(db, "DELETE FROM endpoint");
    await expect(
      performOn(db, importSubmissions, {}, { actor, parts: sourceOf(lines), onProgress }),
    ).rejects.toMatchObject({ code: "not_found" });
    expect(await count()).toBe(0);
  });

  test("an export in JSON is imported like its lines, and one that is cut brings nothing", async () => {
    const db = await temporary();
    const { shop, actor } = await twoOwners(db);
    const lines = Array.from({ length: 3 }, (_, index) => lineOf(shop.endpoint, { text: `],${index}` }));
    const list = ["[", ...lines.map((line, index) => (index < 2 ? `${line},` : line)), "]"];
    const bring = (given: readonly string[]) =>
      performOn(db, importSubmissions, {}, { actor, parts: sourceOf(given) });
    await expect(bring(list.slice(0, -1))).rejects.toThrow("all.ndjson: the list has no end");
    expect(await bring(["[]"])).toEqual({ imported: { added: 0, known: 0 } });
    expect(await findFormat(sourceOf(list).source, null)).toBe("ndjson");
    expect(await bring(list)).toEqual({ imported: { added: 3, known: 0 } });
    expect(await bring(lines)).toEqual({ imported: { added: 0, known: 3 } });
  });

  test("a line whose time or id lies more than a minute ahead refuses the file, with its number and what to do", async () => {
    const db = await temporary();
    const { shop, actor } = await twoOwners(db);
    const refusal = async (change: object): Promise<string> => {
      const line = { ...(JSON.parse(lineOf(shop.endpoint)) as object), ...change };
      const parts = sourceOf([lineOf(shop.endpoint), JSON.stringify(line)]);
      const done = performOn(db, importSubmissions, {}, { actor, parts });
      return done.then(
        () => "",
        (error: unknown) => (error as Error).message,
      );
    };
    const now = "it is 2026-06-15T12:00:00.000Z";
    const stored = () => rowsOf(db, "SELECT id FROM submission ORDER BY id");
    const before = await stored();
    const advice = "set the clock of this machine if it is wrong, or correct the line";
    expect(await refusal({ created_at: "2026-06-15T12:01:00.001Z" })).toBe(
      `all.ndjson: line 2: created_at 2026-06-15T12:01:00.001Z has not come yet: ${now}; ${advice}`,
    );
    const id = newId("sub", NOON + 60_001);
    expect(await refusal({ id })).toBe(
      `all.ndjson: line 2: the time of the id ${id}, 2026-06-15T12:01:00.001Z, has not come yet: ${now}; ${advice}`,
    );
    expect(await stored()).toEqual(before);
    expect(await refusal({ id: newId("sub", NOON + 60_000), created_at: "2026-06-15T12:01:00.000Z" })).toBe(
      "",
    );
  });

  test("what an import by the format's name brought and was deleted stays away, with its files, in that form alone", async () => {
    const db = await temporary();
    const { shop, jobs, actor } = await twoOwners(db);
    const file = { id: newId("fil", NOON), name: "cv.pdf", size: 3, type: "application/pdf", sha256: "00" };
    const lines = [lineOf(shop.endpoint), lineOf(shop.endpoint, { cv: [file] }), lineOf(jobs.endpoint)];
    const [kept = "", gone = ""] = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    const named = { imported_from: "ndjson" } as const;
    const bring = (
      input: { imported_from?: "ndjson"; dry_run?: boolean; endpoint?: string },
      files?: object,
    ) => performOn(db, importSubmissions, input, { actor, parts: { ...sourceOf(lines), ...files } });
    const told = (added: number, known: number) => ({ imported: { added, known } });
    expect(await bring({ ...named, dry_run: true })).toEqual(told(3, 0));
    expect(await bring(named)).toEqual(told(3, 0));
    await write(db, `DELETE FROM submission WHERE id = '${gone}'`);
    expect(await bring({ ...named, dry_run: true })).toEqual(told(0, 3));
    expect(await bring({ dry_run: true })).toEqual(told(1, 2));
    expect(await bring(named, { files: { find: () => null, clock: () => NOON } })).toEqual({
      imported: { added: 0, known: 3, files: { added: 0, known: 1, refused: [], refused_count: 0 } },
    });
    expect((await db.read(() => readSubmissions([kept, gone]))).map(({ id }) => id)).toEqual([kept]);
    const other = { ...named, endpoint: jobs.endpoint };
    const inOther = { imported: { ...told(1, 2).imported, elsewhere: 1 } };
    expect(await bring({ ...other, dry_run: true })).toEqual(inOther);
    expect(await bring(other)).toEqual(inOther);
    await write(db, `DELETE FROM submission WHERE id = '${gone}'`);
    expect(await bring({})).toEqual(told(1, 2));
  });

  test("an import is recorded once for each form, tells how far it is, and adds what is not there yet", async () => {
    const db = await temporary();
    const { ben, shop, jobs, actor } = await twoOwners(db);
    const lines = Array.from({ length: 700 }, (_, index) =>
      lineOf(index < 600 ? shop.endpoint : jobs.endpoint, { index }),
    );
    const told: unknown[] = [];
    const onProgress = async (progress: unknown): Promise<void> => void told.push(progress);
    const bring = () => performOn(db, importSubmissions, {}, { actor, parts: sourceOf(lines), onProgress });
    expect(await bring()).toEqual({ imported: { added: 700, known: 0 } });
    expect(await bring()).toEqual({ imported: { added: 0, known: 700 } });
    expect(told.slice(0, 2)).toEqual([
      { done: 500, total: 700 },
      { done: 700, total: 700 },
    ]);
    const changes = await db.read(() => listChanges(10));
    expect(changes.map(({ action, subject, workspaceId }) => [action, subject, workspaceId])).toEqual([
      ["submission.import", jobs.endpoint, ben.workspace.id],
      ["submission.import", shop.endpoint, ben.workspace.id],
    ]);
  });

  test("state, assignee and notes of an export come along with submissions that are new, and with no other", async () => {
    const db = await temporary();
    const { ben, cleo, shop, actor } = await twoOwners(db);
    const work = (assignee: string | null) => ({
      state: "done",
      assignee: assignee === null ? null : { id: "acct_elsewhere", email: assignee },
      notes: [
        {
          id: "note_1",
          text: "Called\u0000 back",
          by: "ada@example.com",
          created_at: "2026-01-02T03:04:05.678Z",
        },
        { id: "note_1", text: "Wants an offer", by: null, created_at: "2026-01-03T03:04:05.678Z" },
      ],
    });
    const worked = (assignee: string | null, given: object = {}): { id: string } => ({
      ...(JSON.parse(lineOf(shop.endpoint)) as { id: string }),
      ...work(assignee),
      ...given,
    });
    const lines = [
      worked(ben.identity.email),
      worked(cleo.identity.email),
      worked("nobody@example.com", { state: "open", notes: [] }),
      worked(null, { id: shop.submission }),
    ];
    const parts = sourceOf(lines.map((line) => JSON.stringify(line)));
    expect(await performOn(db, importSubmissions, {}, { actor, parts })).toEqual({
      imported: { added: 3, known: 1 },
    });
    const [own, strange, bare, known] = await db.read(() => readSubmissions(lines.map(({ id }) => id)));
    const { accountId, email } = ben.identity;
    expect([own?.state, own?.assignee]).toEqual(["done", { id: accountId, email }]);
    expect(own?.notes.map(({ text, by, createdAt }) => [text, by, createdAt])).toEqual([
      ["Called back", "ada@example.com (imported)", Date.parse("2026-01-02T03:04:05.678Z")],
      ["Wants an offer", "the command line (imported)", Date.parse("2026-01-03T03:04:05.678Z")],
    ]);
    // Cleo does not see Ben's forms.
    expect([strange?.state, strange?.assignee]).toEqual(["done", null]);
    expect([bare?.state, bare?.assignee, bare?.notes]).toEqual(["open", null, []]);
    expect([known?.state, known?.notes]).toEqual(["open", []]);
  });

  test("work of an export that is too long or of no kind is refused with its line, and nothing is stored", async () => {
    const db = await temporary();
    const { shop, actor } = await twoOwners(db);
    const before = await rowsOf(db, "SELECT id FROM submission ORDER BY id");
    const note = { text: "x", by: null, created_at: "2026-01-02T03:04:05.678Z" };
    for (const wrong of [
      { state: "closed" },
      { assignee: "ben@example.com" },
      { notes: [{ ...note, text: "x".repeat(2001) }] },
      { notes: [{ ...note, created_at: "yesterday" }] },
      { notes: Array.from({ length: 101 }, () => note) },
    ]) {
      const line = JSON.stringify({ ...(JSON.parse(lineOf(shop.endpoint)) as object), ...wrong });
      const parts = sourceOf([lineOf(shop.endpoint), line]);
      await expect(performOn(db, importSubmissions, {}, { actor, parts })).rejects.toMatchObject({
        code: "usage",
        message: expect.stringContaining("all.ndjson: line 2: ") as string,
      });
    }
    expect(await rowsOf(db, "SELECT id FROM submission ORDER BY id")).toEqual(before);
  });

  test("nothing comes into a form that whoever imports does not reach, nor does anything of such a file", async () => {
    const db = await temporary();
    const { shop, jobs, hers, actor, bound } = await twoOwners(db);
    const before = await rowsOf(db, "SELECT id FROM submission ORDER BY id");
    const missing = { code: "not_found" };
    for (const [who, strange] of [
      [actor, hers.endpoint],
      [bound(null), jobs.endpoint],
    ] as const) {
      const parts = sourceOf([lineOf(shop.endpoint), lineOf(strange)]);
      const bring = (endpoint: string | null) =>
        performOn(db, importSubmissions, { endpoint }, { actor: who, parts });
      await expect(bring(null)).rejects.toMatchObject({
        ...missing,
        message: `there is no endpoint ${strange} here`,
      });
      await expect(bring(strange)).rejects.toMatchObject(missing);
    }
    expect(await rowsOf(db, "SELECT id FROM submission ORDER BY id")).toEqual(before);
  });

  test("members named __proto__ are no fields at any depth, as in posts, and change no prototype", async () => {
    const db = await temporary();
    const { shop } = await twoOwners(db);
    const hostile = '{"__proto__":{"polluted":1},"kept":{"__proto__":2,"list":[{"__proto__":3,"b":4}]}}';
    const line = lineOf(shop.endpoint, { here: 1 }).replace('{"here":1}', hostile);
    const id = newId("sub", NOON);
    const parts = sourceOf([line.replace(/sub_[0-9a-z]{26}/, id)]);
    expect(await performOn(db, importSubmissions, {}, { parts })).toEqual({
      imported: { added: 1, known: 0 },
    });
    const [row] = await rowsOf(db, `SELECT data FROM submission WHERE id = '${id}'`);
    expect(row).toEqual({ data: '{"kept":{"list":[{"b":4}]}}' });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
