import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { goodPost, startServer } from "../support/test-server.ts";

test("another process's write transaction of a second delays posts only, and health is answered meanwhile", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  await server.post(secret, goodPost);
  server.owner.execute("BEGIN IMMEDIATE");
  let answered = 0;
  const posts = Array.from({ length: 20 }, async () => {
    const answer = await server.post(secret, goodPost);
    answered += 1;
    return answer.status;
  });
  for (let asked = 0; asked < 10; asked += 1) {
    await sleep(100);
    expect((await server.request({ method: "GET", path: "/healthz" })).status).toBe(200);
  }
  expect(answered).toBe(0);
  server.owner.execute("COMMIT");
  expect(new Set(await Promise.all(posts))).toEqual(new Set([200]));
  expect(server.stored(id)).toHaveLength(21);
});

test("one that lasts longer than five seconds is answered 503 with Retry-After, and nothing is stored", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  await server.post(secret, goodPost);
  server.owner.execute("BEGIN IMMEDIATE");
  const refused = await server.post(secret, goodPost, { "idempotency-key": "k" });
  const ready = await server.request({ method: "GET", path: "/readyz" });
  server.owner.execute("COMMIT");
  expect([refused.status, refused.json["error"]]).toEqual([503, "Service unavailable"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(refused.text).not.toMatch(/SQLITE|formsvc\.db/);
  expect(ready.status).toBe(503);
  expect(server.stored(id)).toHaveLength(1);
  expect((await server.post(secret, goodPost, { "idempotency-key": "k" })).status).toBe(200);
  expect(server.stored(id)).toHaveLength(2);
});

test("a full disk is answered 503 without a word about it, and the server heals by itself", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  await server.post(secret, goodPost);
  const disk = server.serverDatabase;
  // No free pages, which migrations leave.
  disk.execute("VACUUM");
  disk.pragma(`max_page_count = ${Number(disk.pragma("page_count"))}`);
  const large = { ...goodPost, message: "One word after the other. ".repeat(900) };
  const refused = await server.post(secret, large);
  expect([refused.status, refused.json["error"]]).toEqual([503, "Service unavailable"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(refused.text).not.toMatch(/disk|SQLITE|formsvc\.db/);
  expect(server.log.some((line) => line.includes("SQLITE_FULL"))).toBe(true);
  expect(server.stored(id)).toHaveLength(1);
  disk.pragma("max_page_count = 1000000");
  expect((await server.post(secret, large)).status).toBe(200);
});

test("an endpoint that is deleted while its post waits for the disk answers as if its key were unknown", async () => {
  const server = await startServer();
  const [doomed, other] = await Promise.all([server.addEndpoint(), server.addEndpoint()]);
  for (const { secret } of [doomed, other]) await server.post(secret, goodPost);
  server.owner.execute(`BEGIN IMMEDIATE; DELETE FROM endpoint WHERE id = '${doomed.id}'`);
  const posts = [doomed, other].map(({ secret }) => server.post(secret, goodPost));
  await sleep(100);
  server.owner.execute("COMMIT");
  const statuses = (await Promise.all(posts)).map(({ status }) => status);
  expect(statuses).toEqual([401, 200]);
  expect(server.stored(doomed.id)).toEqual([]);
  expect(server.stored(other.id)).toHaveLength(2);
});
