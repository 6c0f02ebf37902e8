import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { makeKey } from "../../src/keys/key-format.ts";
import { tagOf } from "../../src/keys/key-tag.ts";
import {
  addTag,
  endKey,
  FINISH_GRACE_SQL,
  finishGrace,
  insertKey,
  keyState,
  listKeys,
  type Key,
} from "../../src/keys/key-store.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };

async function addEndpoint(db: Database): Promise<string> {
  const { id } = await db.transaction(function* () {
    const { workspace } = yield* insertAccountRows("ana@example.org", NOON);
    return yield* insertEndpointRow(workspace, made, plans, NOON);
  });
  return id;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("an endpoint has at most 50 keys that work; after one is revoked there is room for another", async () => {
    const db = await temporary();
    const endpointId = await addEndpoint(db);
    const add = (now: number): Promise<Key> =>
      db.transaction(() => insertKey({ endpointId, parsed: makeKey("secret"), hash: "" }, now));
    const first = await add(NOON);
    for (let count = 1; count < 50; count += 1) await add(NOON + count);
    await expect(add(NOON + 50)).rejects.toMatchObject({ code: "usage" });
    // Until its grace is over it works.
    await db.transaction(() => endKey(first, NOON + 1000, NOON));
    await expect(add(NOON + 999)).rejects.toMatchObject({
      message: "an endpoint has at most 50 keys that work; revoke one first",
    });
    await add(NOON + 1000);
  });

  test("a key has a tag of 32 bits from the start, and one of an earlier version gets it once", async () => {
    const db = await temporary();
    const endpointId = await addEndpoint(db);
    const parsed = makeKey("secret");
    const made = await db.transaction(() => insertKey({ endpointId, parsed, hash: "" }, NOON));
    expect(made.tag).toEqual(tagOf(parsed.text));
    expect(made.tag).toHaveLength(4);
    const kept = async () => (await db.read(() => listKeys(endpointId)))[0]?.tag;
    expect(await kept()).toEqual(made.tag);
    await write(db, "UPDATE api_key SET tag = NULL");
    expect(await kept()).toBeNull();
    for (const text of [parsed.text, "another"]) await db.transaction(() => addTag(made, text));
    expect(await kept()).toEqual(made.tag);
  });

  test("of keys that have ended the last hundred are kept", async () => {
    const db = await temporary();
    const endpointId = await addEndpoint(db);
    const keys: Key[] = [];
    for (let count = 0; count < 105; count += 1) {
      const now = NOON + count;
      await db.transaction(function* () {
        const key = yield* insertKey({ endpointId, parsed: makeKey("publishable"), hash: "" }, now);
        keys.push(yield* endKey(key, now, now));
      });
    }
    const last = await db.transaction(() =>
      insertKey({ endpointId, parsed: makeKey("secret"), hash: "" }, NOON + 105),
    );
    const kept = await db.read(() => listKeys(endpointId));
    expect(kept.map(({ id }) => id)).toEqual([...keys.slice(5), last].map(({ id }) => id));
    expect(kept.map((key) => keyState(key, NOON + 105)).filter((state) => state === "active")).toHaveLength(
      1,
    );
  });

  test("keys whose grace is over at the same time are ended 500 at a time", async () => {
    const db = await temporary();
    const endpointId = await addEndpoint(db);
    await db.transaction(() => insertKey({ endpointId, parsed: makeKey("secret"), hash: "" }, NOON));
    const others = Array.from({ length: 1199 }, (_, index) => `('key_${index}', '${index}')`).join(",");
    await write(
      db,
      `INSERT INTO api_key (id, endpoint_id, kind, lookup, hash, created_at, revoked_at)
         SELECT column1, endpoint_id, kind, column2, hash, created_at, ${NOON} FROM (VALUES ${others}) AS made, api_key`,
    );
    const ended: number[] = [];
    for (let round = 0; round < 4; round += 1) ended.push(await db.transaction(() => finishGrace(NOON)));
    expect(ended).toEqual([500, 500, 199, 0]);
    const left = (await db.read(() => listKeys(endpointId))).filter(({ isRevoked }) => !isRevoked);
    expect(left.map(({ revokedAt }) => revokedAt)).toEqual([null]);
  });
});

test("in a file, those keys are found without reading all others", () => {
  const db = temporaryDatabase();
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${FINISH_GRACE_SQL.sqlite}`).all(1, 1) as { detail: string }[];
  const steps = plan.map(({ detail }) => detail);
  expect(steps).toContain("SEARCH api_key USING INDEX api_key_in_grace (revoked_at>? AND revoked_at<?)");
  expect(steps.filter((step) => /^SCAN api_key|TEMP B-TREE/.test(step))).toEqual([]);
});
