import { expect, test } from "vitest";
import { readOwnTexts } from "../../scripts/spam/texts.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { query } from "../../src/database/database.ts";
import type { Mark } from "../../src/history/teach.ts";
import { markSubmissions } from "../../src/submissions/stored/mark-submission.ts";
import { writeChoicesRow } from "../../src/endpoints/spam-choices-store.ts";
import { listHeldPosts } from "../../src/submissions/held/held-post.ts";
import { getSubmission } from "../../src/submissions/stored/submission-store.ts";
import { updatePlanRow } from "../../src/workspaces/workspace-store.ts";
import { newId } from "../../src/foundation/id.ts";
import { addSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { type Receiving, receiving } from "../support/receiving.ts";
import { all, run, type Statement, type Steps } from "../../src/database/steps.ts";
import { createSpamMemory } from "../../src/history/spam-memory.ts";
import { postOf } from "../spam/posts.ts";

/** Long enough to be known again by nearly the same words; nothing of it but its link speaks for spam. */
const leaflet =
  "On Saturday morning the gardeners of the valley open their gates, show their roses and herbs, and serve tea with bread and jam from nine until noon, at the old mill and at the vicarage, see https://gardens.example.org/map.";
/** Of a medium score by its words and its link: two others must have sent it before it is a campaign. */
const advertisement =
  "Our gardeners in the valley grow roses, herbs and tools for your garden. Visit our shop on Saturday for roses and herbs from all over the valley, with tea, bread and music for every guest and child. More on our page: https://gardens.example.xyz/shop";
/** Of a high score: one other sender is enough, and nearly the same words. */
const pitch = advertisement.replace("for roses and herbs", "for cheap prices and a discount");
const sender = (index: number) => ({ address: `198.51.${index}.7` });
const from = (index: number, message = leaflet) => ({ email: `p${index}@example.org`, message });

/** Marks as a command does: another process, whose commit the server notices. */
async function mark(service: Receiving, id: string, mark: Mark | null): Promise<void> {
  service.db.now(() => markSubmissions([id], { mark }, service.clock.now()));
  await service.restart();
}

async function scoreOf(
  service: Pick<Receiving, "submit"> & { db: SqliteDatabase },
  body: object,
  index: number,
) {
  const id = await service.submit({ ...body }, sender(index));
  if (id !== "spam_blocked") return service.db.now(() => getSubmission(id)).spamScore;
  return service.db.now(() => listHeldPosts({ endpointIds: null, since: null, until: null }, 1, null)).data[0]
    ?.spamScore;
}

const advertised = (index: number, message = advertisement) => from(index, message);
const isMedium = (score: number | undefined): boolean => score !== undefined && score >= 26 && score <= 50;

test("near-copies of a suspicious text from two other senders block it, its own sender's do not", async () => {
  const service = await receiving();
  const nearly = advertisement.replace("tea", "coffee");
  expect(isMedium(await scoreOf(service, advertised(1), 1))).toBe(true);
  expect(isMedium(await scoreOf(service, advertised(1), 1))).toBe(true);
  expect(isMedium(await scoreOf(service, advertised(2, nearly), 2))).toBe(true);
  expect(isMedium(await scoreOf(service, advertised(1), 1))).toBe(true);
  expect(await service.submit(advertised(3), sender(3))).toBe("spam_blocked");
});

test("a variant of a pitch from another sender is blocked, and a mark of the pitch is none of the variant", async () => {
  const service = await receiving();
  const variant = pitch.replace("tea", "coffee").replace("child", "kid").replace("Saturday", "Sunday");
  const id = await service.submit(advertised(1, pitch), sender(1));
  expect(await (await service.another()).submit(advertised(2, variant), sender(2))).not.toBe("spam_blocked");
  const { texts } = memoryOf(service.db);
  expect(await service.submit(advertised(2, variant), sender(2))).toBe("spam_blocked");
  expect(memoryOf(service.db).texts).toBe(texts + 1);
  await mark(service, id, "ham");
  expect(await scoreOf(service, advertised(3, pitch), 3)).toBeLessThan(51);
  expect(await service.submit(advertised(3, variant), sender(3))).toBe("spam_blocked");
});

test("suspicious posts that name the phone number of two other senders are blocked, whatever their texts and links", async () => {
  const service = await receiving();
  const called = (index: number, word: string, phone: string) =>
    service.submit({ ...from(index, `${word} [url=https://${word}.example.xyz/1]`), phone }, sender(index));
  expect(await called(1, "offers", "+49 211 4567803")).not.toBe("spam_blocked");
  expect(await called(2, "prices", "+49 211 4567803")).not.toBe("spam_blocked");
  expect(await called(3, "discounts", "+49 211 4567804")).not.toBe("spam_blocked");
  expect(await called(4, "deals", "0211/4567803")).toBe("spam_blocked");
});

test("suspicious posts that lead where those of two other senders led are blocked, whatever their texts", async () => {
  const service = await receiving();
  const linked = (index: number, word: string) =>
    service.submit(from(index, `${word} [url=https://roses.example.xyz/${index}]`), sender(index));
  expect(await linked(1, "roses")).not.toBe("spam_blocked");
  expect(await linked(2, "tea")).not.toBe("spam_blocked");
  expect(await linked(2, "herbs")).not.toBe("spam_blocked");
  expect(await linked(3, "tools")).toBe("spam_blocked");
  const elsewhere = "bulbs [url=https://lilies.example.xyz/5]";
  expect(await service.submit(from(5, elsewhere), sender(5))).not.toBe("spam_blocked");
  await service.restart();
  expect(await linked(6, "pots")).toBe("spam_blocked");
});

test("a post that is not suspicious speaks for the place that it leads to, and copies of it write nothing more", async () => {
  const service = await receiving();
  const linked = (index: number, word: string) =>
    service.submit(from(index, `${word} [url=https://roses.example.xyz/${index}]`), sender(index));
  await linked(1, "roses");
  await linked(2, "tea");
  const letter = `${leaflet} https://roses.example.xyz/tea`;
  expect(await service.submit(from(3, letter), sender(3))).not.toBe("spam_blocked");
  const remembered = memoryOf(service.db);
  expect(await linked(4, "tools")).not.toBe("spam_blocked");
  expect(await service.submit(from(5, letter), sender(5))).not.toBe("spam_blocked");
  expect(memoryOf(service.db)).toEqual(remembered);
});

test("one sender with many addresses of a network, or many networks with one address, is still one", async () => {
  const service = await receiving();
  for (let index = 0; index < 6; index += 1)
    await service.submit(advertised(index), { address: `203.0.113.${index}` });
  expect(isMedium(await scoreOf(service, advertised(99), 99))).toBe(true);
  for (let index = 0; index < 6; index += 1)
    expect(isMedium(await scoreOf(service, advertised(99), index))).toBe(true);
});

test("copies of a text of a low score change nothing, and it is not stored", async () => {
  const service = await receiving();
  for (let index = 1; index < 6; index += 1) expect(await scoreOf(service, from(index), index)).toBe(0);
  expect(memoryOf(service.db).texts).toBe(0);
});

test("the memory survives a restart and is no other workspace's", async () => {
  const service = await receiving();
  for (const index of [1, 2]) await service.submit(advertised(index), sender(index));
  await service.restart();
  const other = await service.another();
  expect(isMedium(await scoreOf({ ...other, db: service.db }, advertised(5), 5))).toBe(true);
  expect(await service.submit(advertised(5), sender(5))).toBe("spam_blocked");
});

test("a text marked as spam is known when it comes again, and a mark undone restores everything", async () => {
  const service = await receiving();
  const id = await service.submit(advertised(1), sender(1));
  const before = memoryOf(service.db);
  await mark(service, id, "spam");
  await mark(service, id, null);
  expect(memoryOf(service.db)).toEqual(before);
  await mark(service, id, "spam");
  expect(await service.submit(advertised(1), sender(1))).toBe("spam_blocked");
  await mark(service, id, null);
  expect(isMedium(await scoreOf(service, advertised(2), 2))).toBe(true);
});

test("marking again replaces the mark, and a text marked as genuine is welcome from anybody", async () => {
  const service = await receiving();
  const id = await service.submit(from(1), sender(1));
  await mark(service, id, "spam");
  await mark(service, id, "ham");
  expect(await scoreOf(service, from(2), 2)).toBe(0);
});

test("a mark teaches what somebody wrote and nothing of the files that came with it", async () => {
  const service = await receiving();
  const { db, endpointId } = service;
  const file = { id: newId("fil", NOON), name: "flyer.pdf", size: 3, type: "application/pdf", sha256: "0f" };
  const [bare, withFile] = [{}, { flyer: [file] }].map((more) =>
    addSubmission(db, { endpointId, data: { ...advertised(1), ...more } }),
  );
  const lessonOf = (id = "") => {
    db.now(() => markSubmissions([id], { mark: "spam" }, NOON));
    const [{ buckets, odds, text_id } = {}] = db.now(() =>
      all(query.selectFrom("lesson").selectAll().where("submission_id", "=", id)),
    ) as { buckets?: Buffer; odds?: number; text_id?: number }[];
    return { buckets, odds, text_id };
  };
  expect(lessonOf(withFile)).toEqual(lessonOf(bare));
});

test("a mark that is undone after its form has moved leaves nothing in the workspace that it taught", async () => {
  const service = await receiving();
  const { db, endpointId, workspaceId } = service;
  const other = await service.another();
  const id = await service.submit(advertised(1), sender(1));
  await mark(service, id, "spam");
  const isTaught = (workspace: string) =>
    db
      .now(() => all(query.selectFrom("learned_weights").selectAll().where("workspace_id", "=", workspace)))
      .some(({ weights }) => weights.some((byte) => byte !== 0));
  db.now(() =>
    run(query.updateTable("endpoint").set({ workspace_id: other.workspaceId }).where("id", "=", endpointId)),
  );
  await mark(service, id, "ham");
  expect([isTaught(workspaceId), isTaught(other.workspaceId)]).toEqual([false, true]);
  await mark(service, id, null);
  expect(isTaught(other.workspaceId)).toBe(false);
});

test("marks teach this workspace only", async () => {
  const service = await receiving();
  const other = await service.another();
  const id = await service.submit(from(1), sender(1));
  await mark(service, id, "spam");
  expect(await scoreOf({ ...other, db: service.db }, from(2), 2)).toBe(0);
});

test("a lesson outlives its submission and the weights change with it at once", async () => {
  const service = await receiving();
  const id = await service.submit(from(1), sender(1));
  await mark(service, id, "spam");
  service.db.now(() => run(query.deleteFrom("submission").where("id", "=", id)));
  expect(await scoreOf(service, from(2), 2)).toBeGreaterThanOrEqual(60);
  expect(() => service.db.now(() => markSubmissions([id], { mark: "ham" }, 0))).toThrow("no submission");
});

test("settings of workspace and endpoint hold on plans that allow them, and not on others", async () => {
  const service = await receiving();
  const { db, workspaceId, endpointId, config } = service;
  db.now(() =>
    writeChoicesRow({ kind: "workspace", workspaceId }, { keywords: [{ word: "vicarage", effect: 30 }] }),
  );
  db.now(() =>
    writeChoicesRow(
      { kind: "endpoint", workspaceId, endpointId },
      { keywords: [{ word: "mill", effect: 12 }] },
    ),
  );
  await service.restart();
  expect(await scoreOf(service, from(1), 1)).toBe(0);
  db.now(() => updatePlanRow(workspaceId, "pro", config.plans));
  await service.restart();
  expect(await scoreOf(service, from(1), 1)).toBe(42);
});

test("when a campaign comes again from others, more of it is blocked, without a single mark", async () => {
  const service = await receiving();
  const pitches = readOwnTexts(new URL("../spam/texts/", import.meta.url)).filter(
    ({ label, kind }) => label === "spam" && kind === "mild",
  );
  const blockedInRound = async (round: number): Promise<number> => {
    let blocked = 0;
    for (const { text } of pitches) {
      if ((await service.submit(from(round, text), sender(round))) === "spam_blocked") blocked += 1;
    }
    return blocked;
  };
  const [first, second, third] = [await blockedInRound(1), await blockedInRound(2), await blockedInRound(3)];
  expect(second).toBeGreaterThanOrEqual(first);
  expect(third).toBeGreaterThan(first);
});

test("what is remembered of a workspace's texts is bounded", async () => {
  const service = await receiving();
  const { db, workspaceId } = service;
  db.execute(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
    INSERT INTO remembered_text (workspace_id, keys, sketch, senders) SELECT '${workspaceId}', '[' || i || ']', x'', '[]' FROM n`);
  for (let index = 0; index < 64; index += 1) {
    await service.submit({
      message: `cheap viagra and casino bonus ${"abcdefgh"[index % 8]}${"ijklmnop"[index >> 3]} https://bit.ly/bonus`,
    });
  }
  expect(memoryOf(db).texts).toBeLessThanOrEqual(10_000 + 64);
});

test("what was read before another server marked or remembered something is read again", async () => {
  const service = await receiving();
  const { db, workspaceId, endpointId } = service;
  const id = await service.submit(advertised(1), sender(1));
  const memory = createSpamMemory(null);
  const client = { ipAddress: sender(3).address, userAgent: undefined, acceptLanguage: undefined };
  const post = () => postOf(advertised(3), { client });
  const recall = () => memory.recall(workspaceId, endpointId, post(), service.clock.now());
  /** Changes something when the database has answered a statement with these words, and before the answer is known. */
  const recallAround = async (words: string, change: () => Promise<void>) => {
    const reading = recall();
    for (let step = reading.next(); step.done !== true;) {
      const statement = step.value;
      const answer = db.now(() => inOneStep(statement));
      if (statement.built.compile().sql.includes(words)) {
        await change();
        memory.forget();
      }
      step = reading.next(answer);
    }
    return db.now(recall).history;
  };
  const { copies } = await recallAround("FROM remembered_text WHERE id = ?", async () => {
    await service.submit(advertised(2), sender(2));
  });
  expect(copies.otherSenders).toBe(2);
  memory.forget();
  const { shift } = await recallAround("FROM learned_weights", async () => mark(service, id, "spam"));
  expect(shift).toBeGreaterThan(0);
});

function* inOneStep(statement: Statement): Steps<unknown> {
  return yield statement;
}

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
