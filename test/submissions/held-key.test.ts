import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import { createIdempotencyMemory, forgetExpired } from "../../src/submissions/commit/idempotency.ts";
import { releaseHeldPostRow } from "../../src/submissions/held/release-held.ts";
import { insertBinRows } from "../../src/submissions/stored/submission-bin.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";
import { addPlace, batchServer, outcomesOf } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { getHeldPost } from "../support/held-posts.ts";
import { receiving } from "../support/receiving.ts";
import { releasePost } from "../support/terminal.ts";

function release(db: Database, heldId: string, now = NOON) {
  return db.transaction(function* () {
    return yield* releaseHeldPostRow(yield* getHeldPost(heldId), defaultConfig.plans, now, () => {
      throw new Error("there are no files to link");
    });
  });
}

async function idsOf(db: Database, table: "submission" | "held"): Promise<string[]> {
  return (await rowsOf<{ id: string }>(db, `SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id);
}

describe.each(ENGINES)("the Idempotency-Key of a held post on $name", ({ temporary }) => {
  test("stands for its submission after the release, for 24 hours, and for no other body", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const idempotent = place.idempotent("order-1");
    const held = place.held({ idempotent });
    await outcomesOf(batchServer(db), [held]);
    const memory = createIdempotencyMemory(db);
    expect(await memory.recall(idempotent, NOON)).toBeNull();
    const { id } = await release(db, held.held.id);
    expect(await memory.recall(idempotent, NOON)).toBe(id);
    await expect(memory.recall(place.idempotent("order-1", '{"b":1}'), NOON)).rejects.toThrow("another body");
    expect(await memory.recall(idempotent, NOON + DAY_MS)).toBeNull();
  });

  test("keeps a repeat from being stored that was on its way during the release", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const idempotent = place.idempotent("order-1");
    const held = place.held({ idempotent });
    const server = batchServer(db);
    await outcomesOf(server, [held]);
    const { id } = await release(db, held.held.id);
    const other = { idempotent: place.idempotent("order-1", '{"b":1}') };
    const outcomes = await outcomesOf(server, [place.pending({ idempotent })]);
    expect(outcomes).toEqual([{ firstId: id }]);
    expect(await outcomesOf(server, [place.pending(other)])).toEqual([{ firstId: null }]);
    expect(await idsOf(db, "submission")).toEqual([id]);
  });

  test("keeps a release from storing and counting what its sender had sent again", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const idempotent = place.idempotent("order-1");
    const [held, pending] = [place.held({ idempotent }), place.pending({ idempotent })];
    const server = batchServer(db);
    await outcomesOf(server, [held]);
    await outcomesOf(server, [pending]);
    const released = await release(db, held.held.id, NOON + 2 * DAY_MS);
    expect(released).toEqual({ id: pending.submission.id, wasStored: true });
    expect(await idsOf(db, "submission")).toEqual([pending.submission.id]);
    expect(await idsOf(db, "held")).toEqual([]);
    expect(await rowsOf(db, "SELECT used FROM usage")).toEqual([{ used: 1 }]);
  });

  test("lets a release store the post if what was sent again has another body or was deleted", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const idempotent = place.idempotent("order-1");
    const corrected = place.idempotent("order-1", '{"b":1}');
    const [held, later] = [place.held({ idempotent }), place.held({ idempotent: corrected })];
    const pending = place.pending({ idempotent: corrected });
    const server = batchServer(db);
    await outcomesOf(server, [held, later]);
    await outcomesOf(server, [pending]);
    const first = await release(db, held.held.id);
    expect(first.wasStored).toBe(false);
    expect(await createIdempotencyMemory(db).recall(corrected, NOON)).toBe(pending.submission.id);
    await db.transaction(() => insertBinRows([pending.submission.id], NOON));
    const second = await release(db, later.held.id);
    expect(second.wasStored).toBe(false);
    expect(await createIdempotencyMemory(db).recall(corrected, NOON)).toBe(second.id);
    expect(await idsOf(db, "submission")).toHaveLength(3);
  });

  test("has the held copy dropped before it is forgotten, and no other held post", async () => {
    const db = await temporary();
    const place = await addPlace(db);
    const key = (name: string, body?: string) => ({ idempotent: place.idempotent(name, body) });
    const twin = place.held(key("order-1"));
    const others = [place.held(key("order-1", '{"b":1}')), place.held(key("order-2")), place.held()];
    const server = batchServer(db);
    await outcomesOf(server, [twin, ...others]);
    await outcomesOf(server, [place.pending(key("order-1"))]);
    await db.transaction(() => forgetExpired(NOON + DAY_MS - 1));
    expect(await idsOf(db, "held")).toHaveLength(4);
    expect(await db.transaction(() => forgetExpired(NOON + DAY_MS))).toBe(1);
    expect(await idsOf(db, "held")).toEqual(others.map(({ held }) => held.id).toSorted());
  });
});

test("a client that repeats a post that was over the limit gets the submission that the owner released, and nothing is stored twice", async () => {
  const hobby = { monthlySubmissions: 1, endpoints: 3, customSpam: false, heldBytes: null, fileBytes: null };
  const service = await receiving({ plans: { hobby } });
  const post = { name: "Ana", email: "ana@example.org", message: "Are you open on Sunday?" };
  await service.submit({ ...post, name: "Before" });
  const again = () => service.submit(post, { idempotencyKey: "order-1" });
  expect([await again(), await again()]).toEqual(["submission_limit", "submission_limit"]);
  const [heldId = "", ...more] = await idsOf(service.db, "held");
  expect(more).toEqual([]);
  const plans = { hobby: { ...hobby, monthlySubmissions: 9 } };
  const { id } = await releasePost({ db: service.db, plans }, heldId, service.clock.now());
  expect([await again(), await again()]).toEqual([id, id]);
  expect(await idsOf(service.db, "submission")).toHaveLength(2);
});
