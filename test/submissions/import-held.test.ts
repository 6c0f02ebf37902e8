import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { newId } from "../../src/foundation/id.ts";
import { importHeld } from "../../src/submissions/import/import-held.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";
import { dropHeld } from "../../src/submissions/held/held-operations.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { withMembers } from "../support/members.ts";
import { performOn } from "../support/terminal.ts";

function sourceOf(posts: readonly object[]) {
  const text = posts.map((post) => `${JSON.stringify(post)}\n`).join("");
  return {
    source: {
      name: "held.ndjson",
      bytes: () => [Buffer.from(text)],
      longestPieceBytes: 1_048_576,
      mostMembers: 22_000,
    },
  };
}

const REASONS = [{ signal: "links", points: 90, field: "message", detail: "9 links" }];

/** Ids that forms had elsewhere. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  Shop: "ep_01h455vb4pex5vsknk084sn02q",
  Jobs: "ep_01h455vb4pex5vsknk084sn02r",
  Nowhere: "ep_01h455vb4pex5vsknk084sn02s",
};

/** As the archive of a workspace has it, with the id of a form that is not here. */
function postOf(endpointName: string, more: object = {}) {
  return {
    id: newId("held", NOON),
    endpoint_id: ELSEWHERE[endpointName],
    endpoint_name: endpointName,
    data: { name: "Bo" },
    spam_score: 90,
    spam_class: "blocked",
    spam_reasons: REASONS,
    spam_version: 3,
    ip_address: "192.0.2.7",
    user_agent: "",
    created_at: new Date(NOON).toISOString(),
    why: "spam",
    ...more,
  };
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function bakery() {
    const db = await temporary();
    const members = await withMembers(db);
    const { workspace, owner } = members;
    const bring = (
      posts: readonly object[],
      input: { dry_run?: boolean; endpoint?: string } = {},
      { actor = owner, config = defaultConfig } = {},
    ) => performOn(db, importHeld, { workspace, ...input }, { actor, config, parts: sourceOf(posts) });
    const stored = () =>
      rowsOf<{ id: string; endpoint_id: string; bytes: number }>(
        db,
        `SELECT id, endpoint_id, why, origin, spam_score, spam_reasons, spam_version, created_at, bytes FROM held
         WHERE workspace_id = '${workspace}' ORDER BY id`,
      );
    return { db, ...members, bring, stored };
  }

  test("held posts of an archive are held again in the forms of their names, with their scores and reasons, once", async () => {
    const { db, bring, stored, shop, jobs, workspace } = await bakery();
    const before = await stored();
    const origin = "https://other.example";
    // What decides is the name also if a form elsewhere had the id of another.
    const jobsPost = { endpoint_id: ELSEWHERE["Shop"], why: "origin", origin, spam_score: 20 };
    const posts = [postOf("Shop"), postOf("Jobs", jobsPost)];
    const told = (added: number, known: number) => ({ imported: { added, known, expired: 0 } });
    expect(await bring([...posts, posts[0]!], { dry_run: true })).toEqual(told(2, 1));
    expect(await stored()).toEqual(before);
    expect(await bring(posts)).toEqual(told(2, 0));
    expect(await bring(posts, { dry_run: true })).toEqual(told(0, 2));
    expect(await bring(posts)).toEqual(told(0, 2));
    const added = (await stored()).filter(({ id }) => !before.some((each) => each.id === id));
    const same = { spam_reasons: JSON.stringify(REASONS), spam_version: 3, created_at: NOON };
    expect(added).toEqual([
      expect.objectContaining({
        ...same,
        id: posts[0]!.id,
        endpoint_id: shop.endpoint,
        why: "spam",
        spam_score: 90,
      }),
      expect.objectContaining({
        ...same,
        id: posts[1]!.id,
        endpoint_id: jobs.endpoint,
        why: "origin",
        origin,
      }),
    ]);
    expect(added.every(({ bytes }) => bytes > 50)).toBe(true);
    const changes = await db.read(() => listChanges(2));
    expect(changes.map(({ action, subject, workspaceId }) => [action, subject, workspaceId])).toEqual([
      ["held.import", jobs.endpoint, workspace],
      ["held.import", shop.endpoint, workspace],
    ]);
    const sum = "SELECT posts FROM held_total WHERE workspace_id = ";
    expect(await rowsOf(db, `${sum}'${workspace}'`)).toEqual([{ posts: before.length + 2 }]);
  });

  test("what was dropped since it was brought stays away, and what is too old to be held is left out", async () => {
    const { db, bring, stored, owner } = await bakery();
    const [gone, old] = [postOf("Shop"), { days: 31 }];
    const created = NOON - old.days * DAY_MS;
    const late = postOf("Shop", { id: newId("held", created), created_at: new Date(created).toISOString() });
    expect(await bring([gone, late])).toEqual({ imported: { added: 1, known: 0, expired: 1 } });
    await performOn(db, dropHeld, { held: [gone.id] }, { actor: owner });
    expect(await bring([gone, late])).toEqual({ imported: { added: 0, known: 1, expired: 1 } });
    expect((await stored()).map(({ id }) => id)).not.toContain(gone.id);
  });

  test("a workspace holds no more than its bounds after an import", async () => {
    const { bring, stored } = await bakery();
    const config = { ...defaultConfig, held: { ...defaultConfig.held, maxPerWorkspace: 5 } };
    const posts = Array.from({ length: 9 }, () => postOf("Shop"));
    expect(await bring(posts, {}, { config })).toEqual({ imported: { added: 9, known: 0, expired: 0 } });
    expect(await stored()).toHaveLength(5);
  });

  test("nothing is held of a file with one wrong line, by a reader, or in a form that is not there", async () => {
    const { bring, stored, reader, hers } = await bakery();
    const before = await stored();
    const right = postOf("Shop");
    const wrong: [object, string][] = [
      [{ ...right, id: "sub_01h455vb4pex5vsknk084sn02q" }, "line 2: id: expected a held post's id"],
      [{ ...right, why: "other" }, "line 2: why"],
      [{ ...right, spam_score: 101 }, "line 2: spam_score"],
      [{ ...right, origin: "x".repeat(5000) }, "line 2: origin"],
      [{ ...right, ip_address: "<b>" }, "line 2: ip_address"],
    ];
    for (const [line, message] of wrong)
      await expect(bring([right, line])).rejects.toMatchObject({
        code: "usage",
        message: expect.stringContaining(message) as string,
      });
    await expect(bring([right, postOf("Nowhere")])).rejects.toMatchObject({ code: "not_found" });
    await expect(bring([right], { endpoint: hers.endpoint })).rejects.toMatchObject({ code: "not_found" });
    await expect(bring([right], {}, { actor: reader })).rejects.toMatchObject({ code: "forbidden" });
    expect(await stored()).toEqual(before);
  });
});
