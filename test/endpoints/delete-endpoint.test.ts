import { expect, test } from "vitest";
import { removeEndpoint } from "../support/terminal.ts";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { submissionAdder } from "../support/add-submission.ts";
import { goodPost, startServer } from "../support/test-server.ts";

const COUNT = 1800;

/** A server with two endpoints, one of which has many submissions and idempotency keys. */
async function crowded() {
  const server = await startServer();
  const [large, other] = [await server.addEndpoint(), await server.addEndpoint()];
  const counted = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT})`;
  const insert = submissionAdder(server.owner);
  server.owner.transactionNow(() => {
    for (let index = 1; index <= COUNT; index += 1)
      insert({ id: `sub_${index}`, endpointId: large.id, createdAt: index });
  });
  server.owner.execute(`
    ${counted} INSERT INTO idempotency SELECT '${large.id}', iif(i % 2, 'secret', 'publishable'), CAST(i / 2 AS BLOB), x'00', 'sub_' || i, i FROM n`);
  const rows = (table: string): number =>
    Number(server.owner.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  return { server, large, other, rows };
}

test("an endpoint with many submissions is deleted in short transactions, and posts to others are taken between them", async () => {
  const { server, large, other, rows } = await crowded();
  const left: number[] = [];
  await removeEndpoint(server.owner, large.id, async () => {
    left.push(rows("submission") + rows("idempotency"));
    expect((await server.post(other.secret, goodPost)).status).toBe(200);
  });
  const taken = left.length;
  expect(taken).toBeGreaterThan(5);
  const deleted = left.map((count, index) => (left[index - 1] ?? 2 * COUNT) - count);
  expect(Math.max(...deleted)).toBe(500);
  expect([rows("submission"), rows("idempotency"), rows("endpoint")]).toEqual([taken, 0, 1]);
});

test("deleting an endpoint that is cut off leaves it paused, and is finished by doing it again", async () => {
  const { server, large, rows } = await crowded();
  const cutOff = removeEndpoint(server.owner, large.id, () => Promise.reject(new Error("killed")));
  await expect(cutOff).rejects.toThrow("killed");
  expect(rows("submission")).toBe(COUNT - 500);
  expect(server.owner.now(() => getEndpoint(large.id)).state).toBe("paused");
  await removeEndpoint(server.owner, large.id);
  expect([rows("submission"), rows("idempotency"), rows("endpoint")]).toEqual([0, 0, 1]);
});
