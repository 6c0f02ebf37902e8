import { expect, test } from "vitest";
import { createIdempotencyMemory } from "../../src/submissions/idempotency.ts";
import { goodPost, startServer } from "../support/test-server.ts";

const KEY = { "idempotency-key": "order-4711" };
const DAY_MS = 86_400_000;

test("the same key with the same bytes gets the first answer again and stores nothing more", async () => {
  const server = await startServer();
  const { id, secret, publishable } = await server.addEndpoint();
  const first = await server.post(secret, goodPost, KEY);
  const again = await server.post(secret, goodPost, KEY);
  const withOtherKey = await server.post(publishable, goodPost, KEY);
  expect(first.status).toBe(200);
  expect(again.json).toEqual(first.json);
  expect(withOtherKey.json).toEqual(first.json);
  expect(server.stored(id)).toHaveLength(1);
});

test("the same key with other bytes is a conflict, even where the data is the same", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  await server.post(secret, goodPost, KEY);
  const other = await server.post(secret, `${JSON.stringify(goodPost)} `, KEY);
  expect([other.status, other.json["error"]]).toEqual([409, "Conflict"]);
  expect(server.stored(id)).toHaveLength(1);
});

test("the same key on another endpoint is another key", async () => {
  const server = await startServer();
  const [one, other] = await Promise.all([server.addEndpoint(), server.addEndpoint()]);
  const answers = [
    await server.post(one.secret, goodPost, KEY),
    await server.post(other.secret, goodPost, KEY),
  ];
  expect(new Set(answers.map(({ json }) => json["submission_id"])).size).toBe(2);
});

test("of many posts at once with one key one is stored, and the others get its answer or a conflict", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  const answers = await Promise.all(Array.from({ length: 30 }, () => server.post(secret, goodPost, KEY)));
  const ids = new Set(
    answers.filter(({ status }) => status === 200).map(({ json }) => json["submission_id"]),
  );
  expect(ids.size).toBe(1);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect([answer.status, answer.headers["retry-after"]]).toEqual([409, "1"]);
  }
  expect(server.stored(id)).toHaveLength(1);
});

test("a replay is answered over the monthly limit too, and counts nothing", async () => {
  const server = await startServer({
    plans: { one: { monthlySubmissions: 1, endpoints: null, customSpam: false } },
  });
  const { secret } = await server.addEndpoint({ plan: "one" });
  const first = await server.post(secret, goodPost, KEY);
  expect((await server.post(secret, goodPost)).json["error"]).toBe("Submission limit exceeded");
  expect((await server.post(secret, goodPost, KEY)).json).toEqual(first.json);
  expect(server.owner.prepare("SELECT used FROM usage").pluck().all()).toEqual([1]);
});

test("refusals are not remembered: the key is free for a corrected post", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  for (const refused of ["{", {}, { ...goodPost, _gotcha: "x" }]) {
    expect((await server.post(secret, refused, KEY)).status).toBeGreaterThanOrEqual(400);
  }
  expect((await server.post(secret, goodPost, KEY)).status).toBe(200);
  expect(server.stored(id)).toHaveLength(1);
});

test("a key is remembered for 24 hours, across a restart, and is new after that", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  const first = await server.post(secret, goodPost, KEY);
  await server.restart();
  server.clock.advance(DAY_MS - 1);
  expect((await server.post(secret, goodPost, KEY)).json).toEqual(first.json);
  server.clock.advance(1);
  const second = await server.post(secret, { ...goodPost, name: "Other" }, KEY);
  expect(second.status).toBe(200);
  expect(second.json["submission_id"]).not.toBe(first.json["submission_id"]);
  expect(server.stored(id)).toHaveLength(2);
  expect((await server.post(secret, { ...goodPost, name: "Other" }, KEY)).json).toEqual(second.json);
});

test("expired keys are cleaned up in steps of 500, and no others", async () => {
  const server = await startServer();
  const { id } = await server.addEndpoint();
  const now = server.clock.now();
  server.owner.transaction(() => {
    const insert = server.owner.prepare("INSERT INTO idempotency VALUES (?, ?, ?, ?, ?)");
    for (let row = 0; row < 603; row += 1) {
      const age = row < 600 ? DAY_MS : DAY_MS - 1;
      insert.run(id, Buffer.from(`key ${row}`), Buffer.alloc(32), "sub", now - age);
    }
  });
  const memory = createIdempotencyMemory(server.owner);
  expect([1, 2, 3].map(() => memory.forgetExpired(now))).toEqual([500, 100, 0]);
  expect(server.owner.prepare("SELECT count(*) FROM idempotency").pluck().get()).toBe(3);
});

test("neither the key nor the body is stored, only their hashes", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint();
  await server.post(secret, goodPost, { "idempotency-key": "a-very-telling-key" });
  const row = server.owner.prepare("SELECT key_hash, body_hash FROM idempotency").get() as Record<
    string,
    Buffer
  >;
  expect(Object.values(row).map((hash) => hash.length)).toEqual([32, 32]);
});
