import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { Statement, Steps } from "../../src/database/steps.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { KeptLessons } from "../../src/history/kept-lessons.ts";
import { unteach } from "../../src/history/teach.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { markSubmissions } from "../../src/submissions/stored/mark-submission.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";

type Marking = "spam" | "ham" | null;

/** Counts how often the steps read all lessons of a workspace. */
function* counting<Result>(steps: Steps<Result>, note: () => void): Steps<Result> {
  let step: IteratorResult<Statement, Result> = steps.next();
  while (step.done !== true) {
    if (/^select .+ from "lesson" where "workspace_id"/.test(step.value.built.compile().sql)) note();
    step = steps.next(yield step.value);
  }
  return step.value;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function withPosts() {
    const db = await temporary();
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
    const add = () => insertEndpointRow(workspace, made, defaultConfig.plans, NOON);
    const { id: endpointId } = await db.transaction(add);
    const given = Array.from({ length: 6 }, (_, index) => ({
      endpointId,
      createdAt: NOON + index,
      data: { name: "Max", email: `max${index}@example.org`, message: `word${index} and word${index + 1}` },
    }));
    const ids = await storeSubmissions(db, given);
    let reads = 0;
    const mark = (kept: KeptLessons, index: number, how: Marking): Promise<unknown> =>
      db.transaction(() =>
        counting(markSubmissions(ids.slice(index, index + 1), { mark: how, kept }, NOON), () => (reads += 1)),
      );
    const weights = () =>
      rowsOf<{ weights: Buffer }>(db, "SELECT weights FROM learned_weights").then((rows) => rows[0]?.weights);
    /** Whether the weights are those that all lessons give. */
    async function areRight(): Promise<boolean> {
      const before = await weights();
      const none = [{ workspaceId: workspace.id, submissionId: "sub_none" }];
      await db.transaction(() => unteach(none, new KeptLessons()));
      return before !== undefined && (await weights())?.equals(before) === true;
    }
    return { db, workspace, mark, areRight, reads: () => reads };
  }

  test("marks of one work read the earlier ones once, and teach what they teach alone", async () => {
    const { mark, areRight, reads } = await withPosts();
    await mark(new KeptLessons(), 5, "ham");
    const kept = new KeptLessons();
    const before = reads();
    for (const [index, how] of [
      [0, "spam"],
      [1, "ham"],
      [0, "ham"],
      [2, "spam"],
      [1, null],
      [3, "ham"],
    ] as const) {
      await mark(kept, index, how);
      kept.accept();
    }
    expect(reads() - before).toBe(1);
    expect(await areRight()).toBe(true);
  });

  test("what somebody else marked in between is learned too", async () => {
    const { mark, areRight, reads } = await withPosts();
    const kept = new KeptLessons();
    await mark(kept, 0, "spam");
    kept.accept();
    await mark(new KeptLessons(), 1, "ham");
    const before = reads();
    await mark(kept, 2, "spam");
    kept.accept();
    expect(reads() - before).toBe(1);
    expect(await areRight()).toBe(true);
  });

  test("what was rolled back is not, whoever marks next", async () => {
    const { db, mark, areRight } = await withPosts();
    const kept = new KeptLessons();
    await mark(kept, 0, "spam");
    kept.accept();
    const failing = db.transaction(function* () {
      yield* unteach([], kept);
      kept.note("ws_none", { version: 1, lessons: [] });
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await mark(kept, 1, "ham");
    kept.accept();
    expect(kept.find("ws_none", 1)).toBeUndefined();
    expect(await areRight()).toBe(true);
  });

  test("beyond 2,000 the oldest are forgotten all the same", async () => {
    const { db, workspace, mark, areRight } = await withPosts();
    await write(
      db,
      `INSERT INTO lesson (workspace_id, submission_id, mark, buckets, odds, created_at) VALUES ${Array.from(
        { length: 1999 },
        (_, index) =>
          `('${workspace.id}', 'sub_${index}', 'spam', ${db.engine === "sqlite" ? "x'0100'" : "'\\x0100'"}, 9, 1)`,
      ).join(",")}`,
    );
    const kept = new KeptLessons();
    for (const index of [0, 1, 2]) {
      await mark(kept, index, "ham");
      kept.accept();
    }
    const left = await rowsOf(
      db,
      "SELECT submission_id FROM lesson WHERE submission_id LIKE 'sub\\__' ESCAPE '\\' ORDER BY id",
    );
    expect(left).toHaveLength(8);
    expect(await rowsOf(db, "SELECT id FROM lesson")).toHaveLength(2000);
    expect(await areRight()).toBe(true);
  });
});
