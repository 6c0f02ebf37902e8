import { describe, expect, test } from "vitest";
import { addPlace, batchServer, outcomesOf, tally } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";

const proof = (byte: number) => ({ id: Buffer.alloc(32, byte), expiresAt: NOON + 600_000 });

describe.each(ENGINES)("a proof of work on $name", ({ temporary }) => {
  test("counts for one post, in one batch and with another server, stored or held", async () => {
    const db = await temporary();
    const { pending, held } = await addPlace(db);
    const [one, other] = [batchServer(db), batchServer(db)];
    const post = () => pending({ proof: proof(1) });
    expect(tally(await outcomesOf(one, [post(), post(), post()]))).toEqual({ stored: 1, spent: 2 });
    expect(await outcomesOf(other, [post(), held({ proof: proof(1) })])).toEqual(["spent", "spent"]);
    const both = [];
    for (const server of [one, other])
      both.push(await outcomesOf(server, [pending({ proof: proof(2) }), held({ proof: proof(3) })]));
    expect(tally(both.flat())).toEqual({ stored: 2, spent: 2 });
    expect(await rowsOf(db, "SELECT id FROM spent_proof")).toHaveLength(3);
  });

  test("is not spent by a post that is not stored", async () => {
    const db = await temporary();
    const { pending } = await addPlace(db);
    const server = batchServer(db);
    expect(await outcomesOf(server, [pending({ proof: proof(1), monthlyLimit: 0 })])).toEqual(["over_limit"]);
    expect(await outcomesOf(server, [pending({ proof: proof(1) })])).toEqual(["stored"]);
  });
});
