import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import type { Mark } from "../../src/history/teach.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { spamClassOf } from "../../src/spam/spam-verdict.ts";
import { markSubmissions } from "../../src/submissions/stored/mark-submission.ts";
import { countMarkedScores } from "../../src/submissions/find/marked-scores.ts";
import { getWorkspace } from "../../src/workspaces/workspace-store.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { addPlace, batchServer } from "../support/batch-world.ts";
import { ENGINES, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { releasePost } from "../support/terminal.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const NONE = { low: 0, medium: 0, high: 0, blocked: 0 };
const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

/** Stores a post with each of these scores and marks them all. */
async function marked(
  db: Database,
  endpointId: string,
  scores: readonly number[],
  [mark, at]: readonly [Mark, number],
): Promise<string[]> {
  const ids = await storeSubmissions(
    db,
    scores.map((spamScore) => ({
      endpointId,
      spamScore,
      spamClass: spamClassOf(spamScore),
      createdAt: at,
      data: { message: `said "signal":"released" with ${spamScore}` },
      // Whatever somebody writes, it is no release.
      spamReasons: [{ signal: "text", points: spamScore, field: null, detail: '"signal":"released"' }],
    })),
  );
  await db.transaction(() => markSubmissions(ids, { mark }, at));
  return ids;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("what owners marked in 30 days is counted by mark and by how it had scored, of a workspace or of one endpoint", async () => {
    const db = await temporary();
    const [ana, ben] = [await addPlace(db, "ana"), await addPlace(db, "ben")];
    const made = { name: "Other", definition: exampleSchema, settings: defaultEndpointSettings };
    const other = await db.transaction(function* () {
      return yield* insertEndpointRow(yield* getWorkspace(ana.workspaceId), made, plans, NOON);
    });
    await marked(db, ana.endpointId, [0, 25, 26, 50, 51, 75], ["spam", NOON]);
    await marked(db, ana.endpointId, [10, 60], ["ham", NOON]);
    await marked(db, other.id, [70], ["ham", NOON]);
    await marked(db, ben.endpointId, [70, 70], ["ham", NOON]);
    await marked(db, ana.endpointId, [70], ["ham", NOON - 31 * DAY_MS]);
    const [undone = ""] = await marked(db, ana.endpointId, [70], ["ham", NOON]);
    await db.transaction(() => markSubmissions([undone], { mark: null }, NOON));
    const count = (endpointId: string | null) =>
      db.read(() => countMarkedScores(ana.workspaceId, endpointId, NOON));
    const spam = { ...NONE, low: 2, medium: 2, high: 2 };
    expect(await count(null)).toEqual({ spam, ham: { ...NONE, low: 1, high: 2 } });
    expect(await count(ana.endpointId)).toEqual({ spam, ham: { ...NONE, low: 1, high: 1 } });
    expect(await count(other.id)).toEqual({ spam: NONE, ham: { ...NONE, high: 1 } });
    expect(await count(ben.endpointId)).toEqual({ spam: NONE, ham: NONE });
  });

  test("a post that was held as spam counts as blocked once it is released, though its score is then 0, and no more when it is deleted", async () => {
    const db = await temporary();
    const ana = await addPlace(db);
    const post = ana.held();
    const held = { ...post, held: { ...post.held, spamScore: 90, spamClass: "blocked" as const } };
    await batchServer(db).write([held]);
    const { id, spamScore } = await releasePost({ db, plans }, held.held.id, NOON);
    expect(spamScore).toBe(0);
    const count = () => db.read(() => countMarkedScores(ana.workspaceId, ana.endpointId, NOON));
    expect(await count()).toEqual({ spam: NONE, ham: { ...NONE, blocked: 1 } });
    await write(db, `DELETE FROM submission WHERE id = '${id}'`);
    expect(await count()).toEqual({ spam: NONE, ham: NONE });
  });
});
