import { expect, test } from "vitest";
import { readOwnTexts } from "../../scripts/spam/texts.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { query } from "../../src/database/database.ts";
import type { Mark } from "../../src/history/teach.ts";
import { markSubmission } from "../../src/submissions/mark-submission.ts";
import { writeChoices } from "../../src/endpoints/spam-choices-store.ts";
import { listHeld } from "../../src/submissions/held-post.ts";
import { getSubmission } from "../../src/submissions/submission-store.ts";
import { setPlan } from "../../src/workspaces/workspace-store.ts";
import { type Receiving, receiving } from "../support/receiving.ts";
import { all, run } from "../../src/database/steps.ts";

/** Long enough to be known again by nearly the same words; nothing of it but its link speaks for spam. */
const leaflet =
  "On Saturday morning the gardeners of the valley open their gates, show their roses and herbs, and serve tea with bread and jam from nine until noon, at the old mill and at the vicarage, see https://gardens.example.org/map.";
const sender = (index: number) => ({ address: `198.51.${index}.7` });
const from = (index: number, message = leaflet) => ({ email: `p${index}@example.org`, message });

/** Marks as a command does: another process, whose commit the server notices. */
function mark(service: Receiving, id: string, mark: Mark | null): void {
  service.db.now(() => markSubmission(service.db, id, mark, service.clock.now()));
  service.restart();
}

async function scoreOf(
  service: Pick<Receiving, "submit"> & { db: SqliteDatabase },
  body: object,
  index: number,
) {
  const id = await service.submit({ ...body }, sender(index));
  if (id !== "spam_blocked") return service.db.now(() => getSubmission(id)).spamScore;
  return service.db.now(() => listHeld({ endpointId: null, since: null, until: null }, 1, null)).data[0]
    ?.spamScore;
}

test("a near-copy from another sender costs points, one from the same sender does not", async () => {
  const service = await receiving();
  expect(await scoreOf(service, from(1), 1)).toBe(0);
  expect(await scoreOf(service, from(1), 1)).toBe(0);
  expect(await scoreOf(service, from(2, leaflet.replace("tea", "coffee")), 2)).toBe(20);
  expect(await scoreOf(service, from(3), 3)).toBe(30);
});

test("one sender with many addresses of a network, or many networks with one address, is still one", async () => {
  const service = await receiving();
  for (let index = 0; index < 6; index += 1)
    await service.submit(from(index), { address: `203.0.113.${index}` });
  for (let index = 0; index < 6; index += 1) await service.submit(from(0), sender(index));
  expect(await scoreOf(service, from(99), 99)).toBe(20);
});

test("the memory survives a restart and is no other workspace's", async () => {
  const service = await receiving();
  await service.submit(from(1), sender(1));
  service.restart();
  expect(await scoreOf(service, from(2), 2)).toBe(20);
  const other = await service.another();
  expect(await scoreOf({ ...other, db: service.db }, from(3), 3)).toBe(0);
});

test("a text marked as spam is known when others send it, and a mark undone restores everything", async () => {
  const service = await receiving();
  const id = await service.submit(from(1), sender(1));
  const before = memoryOf(service.db);
  mark(service, id, "spam");
  expect(await scoreOf(service, from(2), 2)).toBeGreaterThanOrEqual(60);
  mark(service, id, null);
  const undone = memoryOf(service.db);
  expect({ ...undone, senders: before.senders }).toEqual(before);
  expect(await scoreOf(service, from(3), 3)).toBe(30);
});

test("marking again replaces the mark, and a text marked as genuine is welcome from anybody", async () => {
  const service = await receiving();
  const id = await service.submit(from(1), sender(1));
  mark(service, id, "spam");
  mark(service, id, "ham");
  expect(await scoreOf(service, from(2), 2)).toBe(0);
});

test("marks teach this workspace only", async () => {
  const service = await receiving();
  const other = await service.another();
  const id = await service.submit(from(1), sender(1));
  mark(service, id, "spam");
  expect(await scoreOf({ ...other, db: service.db }, from(2), 2)).toBe(0);
});

test("a lesson outlives its submission and the weights change with it at once", async () => {
  const service = await receiving();
  const id = await service.submit(from(1), sender(1));
  mark(service, id, "spam");
  service.db.now(() => run(query.deleteFrom("submission").where("id", "=", id)));
  expect(await scoreOf(service, from(2), 2)).toBeGreaterThanOrEqual(60);
  expect(() => service.db.now(() => markSubmission(service.db, id, "ham", 0))).toThrow("no submission");
});

test("settings of workspace and endpoint hold on plans that allow them, and not on others", async () => {
  const service = await receiving();
  const { db, workspaceId, endpointId, config } = service;
  db.now(() =>
    writeChoices({ kind: "workspace", workspaceId }, { keywords: [{ word: "vicarage", effect: 30 }] }),
  );
  db.now(() =>
    writeChoices({ kind: "endpoint", workspaceId, endpointId }, { keywords: [{ word: "mill", effect: 12 }] }),
  );
  service.restart();
  expect(await scoreOf(service, from(1), 1)).toBe(0);
  db.now(() => setPlan(workspaceId, "pro", config.plans));
  service.restart();
  expect(await scoreOf(service, from(1), 1)).toBe(42);
});

test("when a campaign comes again from others, more of it is blocked, without a single mark", async () => {
  const service = await receiving();
  const pitches = readOwnTexts(new URL("../spam/texts/", import.meta.url)).filter(
    ({ label, kind }) => label === "spam" && kind === "quiet",
  );
  const blockedInRound = async (round: number): Promise<number> => {
    let blocked = 0;
    for (const { text } of pitches) {
      const message = `${text} https://quiet-offers.example/${round}`;
      if ((await service.submit(from(round, message), sender(round))) === "spam_blocked") blocked += 1;
    }
    return blocked;
  };
  const [first, second, third] = [await blockedInRound(1), await blockedInRound(2), await blockedInRound(3)];
  expect(second).toBeGreaterThan(first);
  expect(third).toBeGreaterThanOrEqual(second);
});

test("what is remembered of a workspace's texts is bounded", async () => {
  const service = await receiving();
  const { db, workspaceId } = service;
  db.execute(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
    INSERT INTO remembered_text (workspace_id, keys, sketch, senders) SELECT '${workspaceId}', '[' || i || ']', x'', '[]' FROM n`);
  for (let index = 0; index < 64; index += 1) {
    await service.submit({
      message: `the bench number ${"abcdefgh"[index % 8]}${"ijklmnop"[index >> 3]} needs paint https://b.example.org`,
    });
  }
  expect(memoryOf(db).texts).toBeLessThanOrEqual(10_000 + 64);
});

test("copies of a long text without link or oddness are seen too, over the workspace's forms and until a restart", async () => {
  const service = await receiving();
  const plain = leaflet.replace(", see https://gardens.example.org/map", "");
  expect(await scoreOf(service, from(1, plain), 1)).toBe(0);
  expect(await scoreOf(service, from(1, plain), 1)).toBe(0);
  expect(memoryOf(service.db).texts).toBe(0);
  const other = await service.another();
  expect(await scoreOf({ ...other, db: service.db }, from(4, plain), 4)).toBe(0);
  expect(await scoreOf(service, from(2, plain.replace("tea", "coffee")), 2)).toBe(20);
  expect(await scoreOf(service, from(3, plain), 3)).toBe(30);
  service.restart();
  expect(await scoreOf(service, from(5, plain), 5)).toBe(30);
});

test("a plain post that nothing speaks against is not remembered", async () => {
  const service = await receiving();
  await service.submit({ message: "the bench at the pond needs paint before the summer" });
  expect(memoryOf(service.db).texts).toBe(0);
});

function memoryOf(db: SqliteDatabase) {
  const texts = db.now(() =>
    all(query.selectFrom("remembered_text").select(["senders", "marked_spam", "marked_ham"])),
  );
  const weights = db.now(() => all(query.selectFrom("learned_weights").select("weights")));
  return {
    texts: texts.length,
    marks: texts.map(({ marked_spam, marked_ham }) => [marked_spam, marked_ham]),
    senders: texts.map(({ senders }) => senders),
    lessons: db.now(() => all(query.selectFrom("lesson").selectAll())),
    learned: weights.some((row) => row.weights.some((byte) => byte !== 0)),
  };
}
