import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { erasePersonRecords, findPersonRecords } from "../../src/submissions/manage/person-operations.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { performOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";

const parts = { searches: null };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a person is found and erased only where whoever asks may look", async () => {
    const db = await temporary();
    const { ben, shop, jobs, hers, actor, bound } = await twoOwners(db);
    const find = (value: string, who: Actor = actor) =>
      performOn(db, findPersonRecords, { field: "name", value }, { actor: who, parts });
    const idsOf = ({ submissions, held }: Awaited<ReturnType<typeof find>>) =>
      [...submissions, ...held].map(({ id }) => id);
    expect(idsOf(await find(" jobs "))).toEqual([jobs.submission, jobs.held]);
    expect(idsOf(await find("Contact"))).toEqual([]);
    expect(idsOf(await find("Jobs", bound(ben.identity)))).toEqual([]);
    expect(idsOf(await find("Shop", bound(null)))).toEqual([shop.submission, shop.held]);

    const all = [shop, jobs, hers];
    const named = { submissions: all.map(({ submission }) => submission), held: all.map(({ held }) => held) };
    const erase = (who: Actor) => performOn(db, erasePersonRecords, named, { actor: who });
    expect(await erase(bound(null))).toEqual({ erased: 2 });
    expect(await erase(actor)).toEqual({ erased: 2 });
    expect(await erase(actor)).toEqual({ erased: 0 });
    expect(await rowsOf(db, "SELECT id FROM submission")).toEqual([{ id: hers.submission }]);
    expect(await rowsOf(db, "SELECT id FROM held")).toEqual([{ id: hers.held }]);
    const changes = await db.read(() => listChanges(10));
    expect(changes.map(({ action, workspaceId, detail }) => [action, workspaceId, detail])).toEqual([
      ["submission.erase", ben.workspace.id, "2 erased"],
      ["submission.erase", ben.workspace.id, "2 erased"],
    ]);
  });

  test("a search for no field, or for nothing in it, is refused", async () => {
    const db = await temporary();
    for (const wrong of [
      { field: "", value: "x" },
      { field: "x", value: "" },
      { field: "x".repeat(1001), value: "x" },
    ])
      await expect(performOn(db, findPersonRecords, wrong, { parts })).rejects.toMatchObject({
        code: "usage",
      });
  });
});
