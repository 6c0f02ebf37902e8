import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { isId, newId, timeOfId } from "../../src/foundation/id.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { importHeld } from "../../src/submissions/import/import-held.ts";
import { importSubmissions } from "../../src/submissions/import/import-submissions.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { asSubmission } from "../support/add-submission.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { performOn } from "../support/terminal.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { twoOwners } from "../support/two-owners.ts";
import { pdf, sha256 } from "../support/uploads.ts";

function sourceOf(lines: readonly object[]) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const bytes = () => [Buffer.from(text)];
  return { source: { name: "all.ndjson", bytes, longestPieceBytes: 1_048_576, mostMembers: 22_000 } };
}

const CV = pdf(3000);
const facts = () => ({
  id: newId("fil", NOON),
  name: "cv.pdf",
  size: CV.length,
  type: "application/pdf",
  sha256: sha256(CV),
});
const note = { text: "Called back", by: "ada@example.com", created_at: "2026-01-02T03:04:05.678Z" };

interface Stored {
  readonly id: string;
  readonly data: string;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function world() {
    const db = await temporary();
    const owners = await twoOwners(db);
    const { shop, hers, cleo } = owners;
    const stranger: Actor = { kind: "account", ...cleo.identity };
    const sought: string[] = [];
    const files = {
      find: (submissionId: string, { id }: { readonly id: string }) => {
        sought.push(`${submissionId} ${id}`);
        const read = (at: number, length: number) => Promise.resolve(CV.subarray(at, at + length));
        return Promise.resolve({ size: CV.length, read, close: () => Promise.resolve() });
      },
      clock: { now: () => NOON },
    };
    const bring = (
      lines: readonly object[],
      {
        actor,
        endpoint,
        ...more
      }: { actor: Actor; endpoint: string; dry_run?: boolean; imported_from?: "ndjson" },
    ) => {
      const parts = { ...sourceOf(lines), ...(more.dry_run !== true && { files }) };
      return performOn(db, importSubmissions, { endpoint, ...more }, { actor, parts });
    };
    const mine = { actor: owners.actor, endpoint: shop.endpoint };
    const theirs = { actor: stranger, endpoint: hers.endpoint };
    return { db, ...owners, bring, mine, theirs, sought };
  }

  const storedIn = (db: Database, endpoint: string): Promise<Stored[]> =>
    rowsOf<Stored>(
      db,
      `SELECT submission.id, data FROM submission JOIN endpoint_number ON number = endpoint_number
       WHERE endpoint_id = '${endpoint}' ORDER BY submission.id`,
    );
  const lineIn = (endpointId: string, data: Record<string, unknown> = {}) => ({
    ...submissionJson(asSubmission({ endpointId, data, createdAt: NOON })),
    notes: [note],
  });
  const none = { added: 0, known: 0, refused: [], refused_count: 0 };

  test("whoever brings a copy of an export first keeps no post from its owner, with its files and notes, once", async () => {
    const { db, shop, hers, bring, mine, theirs, sought } = await world();
    const before = (await storedIn(db, shop.endpoint)).map(({ id }) => id);
    const file = facts();
    const lines = [lineIn(shop.endpoint, { name: "Ana", cv: [file] }), lineIn(shop.endpoint, { name: "Bo" })];
    const [first, second] = lines.map(({ id }) => id);
    const [line] = lines as [(typeof lines)[0]];
    await bring([line], theirs);
    const taken = await storedIn(db, hers.endpoint);
    expect(await bring(lines, { ...mine, dry_run: true })).toEqual({
      imported: { added: 2, known: 0, new_ids: 1 },
    });
    sought.length = 0;
    expect(await bring(lines, mine)).toEqual({
      imported: { added: 2, known: 0, new_ids: 1, files: { ...none, added: 1 } },
    });
    // The folder of the export has the old ids.
    expect(sought).toEqual([`${first} ${file.id}`]);
    const added = (await storedIn(db, shop.endpoint)).filter(({ id }) => !before.includes(id));
    const own = added.find(({ id }) => id !== second);
    expect(added.map(({ id }) => id)).toContain(second);
    expect([own?.id === first, isId("sub", own?.id ?? ""), timeOfId(own?.id ?? "")]).toEqual([
      false,
      true,
      NOON,
    ]);
    const [named] = (JSON.parse(own?.data ?? "") as { cv: { id: string }[] }).cv;
    expect({ ...named, id: "" }).toEqual({ ...file, id: "" });
    expect(
      await rowsOf(db, `SELECT submission_id, endpoint_id, state FROM file WHERE id = '${named?.id}'`),
    ).toEqual([{ submission_id: own?.id, endpoint_id: shop.endpoint, state: "stored" }]);
    expect(await rowsOf(db, `SELECT text FROM submission_note WHERE submission_id = '${own?.id}'`)).toEqual([
      { text: note.text },
    ]);
    // The stranger's rows are as they were.
    expect(await storedIn(db, hers.endpoint)).toEqual(taken);
    expect(await rowsOf(db, `SELECT submission_id FROM file WHERE id = '${file.id}'`)).toEqual([
      { submission_id: first },
    ]);

    const again = { imported: { added: 0, known: 2 } };
    expect(await bring(lines, { ...mine, dry_run: true })).toEqual(again);
    expect(await bring(lines, mine)).toEqual({
      imported: { ...again.imported, files: { ...none, known: 1 } },
    });
    // The stranger deletes theirs, and the owner's is found all the same.
    await write(db, `DELETE FROM submission WHERE id = '${first}'`);
    expect(await bring(lines, { ...mine, dry_run: true })).toEqual(again);
    expect(await storedIn(db, shop.endpoint)).toHaveLength(before.length + 2);
  });

  test("what was deleted under its new id stays away from an import by the format's name", async () => {
    const { db, shop, bring, mine, theirs } = await world();
    const line = lineIn(shop.endpoint);
    await bring([line], theirs);
    const named = { ...mine, imported_from: "ndjson" } as const;
    expect(await bring([line], named)).toMatchObject({ imported: { added: 1, new_ids: 1 } });
    const before = await storedIn(db, shop.endpoint);
    const own = before.find(({ id }) => id !== shop.submission);
    await write(db, `DELETE FROM submission WHERE id = '${own?.id}'`);
    expect(await bring([line], named)).toMatchObject({ imported: { added: 0, known: 1 } });
    expect(await bring([line], { ...named, dry_run: true })).toEqual({ imported: { added: 0, known: 1 } });
    expect(await bring([line], mine)).toMatchObject({ imported: { added: 1, new_ids: 1 } });
    expect((await storedIn(db, shop.endpoint)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  test("whoever takes the new id too gains nothing, and one who takes all of them is told of and not passed over", async () => {
    const { db, shop, hers, bring, mine, theirs } = await world();
    const line = lineIn(shop.endpoint);
    const ids = new Set<string>();
    await bring([line], theirs);
    for (let round = 1; round <= 8; round += 1) {
      expect(await bring([line], mine)).toMatchObject({ imported: { added: 1, new_ids: 1 } });
      const own = (await storedIn(db, shop.endpoint)).find(({ id }) => id !== shop.submission);
      ids.add(own?.id ?? "");
      await write(db, `DELETE FROM submission WHERE id = '${own?.id}'`);
      await bring([{ ...line, endpoint_id: hers.endpoint, id: own?.id }], theirs);
    }
    expect(ids.size).toBe(8);
    for (const dry_run of [true, false])
      await expect(bring([line], { ...mine, dry_run })).rejects.toMatchObject({ code: "conflict" });
  });

  test("a file whose id another workspace has comes with another id, though its submission keeps its own", async () => {
    const { db, shop, hers, bring, mine, theirs } = await world();
    const file = facts();
    await bring([lineIn(hers.endpoint, { cv: [file] })], theirs);
    const line = lineIn(shop.endpoint, { cv: [file] });
    expect(await bring([line], mine)).toEqual({
      imported: { added: 1, known: 0, files: { ...none, added: 1 } },
    });
    const [row] = await rowsOf<{ id: string }>(db, `SELECT id FROM file WHERE submission_id = '${line.id}'`);
    expect(row?.id).not.toBe(file.id);
    expect((await storedIn(db, shop.endpoint)).find(({ id }) => id === line.id)?.data).toContain(row?.id);
  });

  test("a held post whose id another workspace has is held under another one, once", async () => {
    const { db, ben, cleo, shop, hers, mine, theirs } = await world();
    const post = { ...lineIn(shop.endpoint), id: newId("held", NOON), why: "spam" };
    const bring = (place: typeof mine, dry_run = false) =>
      performOn(
        db,
        importHeld,
        { endpoint: place.endpoint, dry_run },
        { actor: place.actor, parts: sourceOf([post]) },
      );
    await bring(theirs);
    const told = { imported: { added: 1, known: 0, expired: 0, new_ids: 1 } };
    expect(await bring(mine, true)).toEqual(told);
    expect(await bring(mine)).toEqual(told);
    expect(await bring(mine, true)).toEqual({ imported: { added: 0, known: 1, expired: 0 } });
    expect(await bring(mine)).toEqual({ imported: { added: 0, known: 1, expired: 0 } });
    const rows = await rowsOf<{ id: string; workspace_id: string }>(db, "SELECT id, workspace_id FROM held");
    const ours = rows.filter(({ id }) => ![shop.held, hers.held].includes(id));
    expect(ours.filter(({ workspace_id: at }) => at === cleo.workspace.id)).toEqual([
      { id: post.id, workspace_id: cleo.workspace.id },
    ]);
    expect(ours.filter(({ workspace_id: at }) => at === ben.workspace.id)).toHaveLength(2);
  });
});

test("an import whose lines have many small objects lets others go first after each line, and while ids of files are looked up", async () => {
  const db = temporaryDatabase();
  const { shop, actor } = await twoOwners(db);
  const cv = () => Array.from({ length: 1300 }, () => ({ ...facts(), sha256: "0" }));
  const lines = Array.from({ length: 9 }, () =>
    submissionJson(
      asSubmission({ endpointId: shop.endpoint, data: { one: cv(), two: cv() }, createdAt: NOON }),
    ),
  );
  expect(JSON.stringify(lines[0]).length).toBeGreaterThan(262_144);
  let [turn, isOver] = [0, false];
  const next = (): void => {
    turn += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  /** The turn of the event loop in which each line was read. */
  const lineTurns: number[] = [];
  function* bytes(): Generator<Buffer> {
    for (const line of lines) {
      lineTurns.push(turn);
      yield Buffer.from(`${JSON.stringify(line)}\n`);
    }
  }
  const read = db.read.bind(db);
  const readTurns: number[] = [];
  const watched: typeof db.read = (...given) => {
    readTurns.push(turn);
    return read(...given);
  };
  Object.assign(db, { read: watched });
  const { source } = sourceOf([]);
  const input = { endpoint: shop.endpoint, dry_run: true };
  await performOn(db, importSubmissions, input, { actor, parts: { source: { ...source, bytes } } });
  isOver = true;
  expect(lineTurns).toHaveLength(18);
  expect(new Set(lineTurns).size).toBeGreaterThanOrEqual(14);
  // 9 lines with 2600 files each, 500 at a time.
  expect(new Set(readTurns).size).toBeGreaterThan((9 * 2600) / 500);
});
