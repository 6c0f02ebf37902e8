import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { markSubmissionsAs } from "../../src/submissions/manage/submission-operations.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { countTurns } from "../support/count-turns.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { performOn } from "../support/terminal.ts";

const POSTS = 12;

/** Stores posts whose messages have this length and no word in common. Returns the database and their ids. */
async function withPosts(length: number) {
  const db = temporaryDatabase();
  const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const plans = defaultConfig.plans;
  const { id: endpointId } = await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON));
  const given = Array.from({ length: POSTS }, (_, index) => ({
    endpointId,
    createdAt: NOON + index,
    data: {
      name: "Max",
      email: `max${index}@example.org`,
      message: Array.from({ length: length / 8 }, (__, word) => `w${index}x${word % 5000}`).join(" "),
    },
  }));
  return { db, ids: await storeSubmissions(db, given) };
}

test("large posts are marked one by one, so that others have their turn between two, and teach what they teach alone", async () => {
  const together = await withPosts(60_000);
  const turns = await countTurns(() =>
    performOn(together.db, markSubmissionsAs, { submissions: together.ids, mark: "spam" }),
  );
  expect(turns).toBeGreaterThanOrEqual(POSTS);
  const alone = await withPosts(60_000);
  for (const id of alone.ids)
    await performOn(alone.db, markSubmissionsAs, { submissions: [id], mark: "spam" });
  const weightsOf = ({ db }: typeof alone): unknown =>
    db.prepare("SELECT hex(weights) AS weights, version FROM learned_weights").get();
  expect(weightsOf(together)).toEqual(weightsOf(alone));
});

test("small posts are marked ten at a time", async () => {
  const { db, ids } = await withPosts(800);
  await performOn(db, markSubmissionsAs, { submissions: ids, mark: "ham" });
  expect(db.prepare("SELECT version FROM learned_weights").pluck().get()).toBe(2);
});
