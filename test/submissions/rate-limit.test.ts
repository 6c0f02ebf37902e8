import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { makeKey } from "../../src/keys/key-format.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

test("a publishable key is limited by address and endpoint, and its answers say how much of it the sender has used", async () => {
  const server = await startServer({ rateLimit: { publishable: { max: 2, windowSeconds: 3600 } } });
  const [one, other] = await Promise.all([server.addEndpoint(), server.addEndpoint()]);
  const answers = [];
  for (let sent = 0; sent < 3; sent += 1) answers.push(await server.post(one.publishable, goodPost));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers.map(({ headers }) => headers["ratelimit-remaining"])).toEqual(["1", "0", undefined]);
  expect(answers[0]?.headers["ratelimit-limit"]).toBe("2");
  expect(Number(answers[0]?.headers["ratelimit-reset"])).toBeGreaterThan(3590);
  expect(answers[2]?.json["error"]).toBe("Rate limit exceeded");
  expect(Number(answers[2]?.headers["retry-after"])).toBeGreaterThan(3590);
  expect((await server.post(other.publishable, goodPost)).status).toBe(200);
  const secret = await server.post(one.secret, goodPost);
  expect(secret.status).toBe(200);
  expect(secret.headers["ratelimit-limit"]).toBeUndefined();
});

test("a secret key is limited by itself, whatever address it passes on", async () => {
  const server = await startServer({ rateLimit: { secret: { max: 1, windowSeconds: 3600 } } });
  const [one, other] = await Promise.all([server.addEndpoint(), server.addEndpoint()]);
  const post = async (key: string, ip: string) =>
    (await server.post(key, goodPost, { "x-submitter-ip": ip })).status;
  expect(await post(one.secret, "198.51.100.1")).toBe(200);
  expect(await post(one.secret, "198.51.100.2")).toBe(429);
  expect(await post(other.secret, "198.51.100.1")).toBe(200);
});

test("a limited sender may come back when Retry-After is over", async () => {
  const server = await startServer({ rateLimit: { publishable: { max: 1, windowSeconds: 1 } } });
  const { publishable } = await server.addEndpoint();
  // A busy machine may take longer for two posts than the window does.
  const refused = await until(async () => {
    const answer = await server.post(publishable, goodPost);
    return answer.status === 429 && answer;
  });
  expect(refused.headers["retry-after"]).toBe("1");
  await sleep(1050);
  expect((await server.post(publishable, goodPost)).status).toBe(200);
});

test("an exempt address meets no limit", async () => {
  const once = { max: 1, windowSeconds: 3600 };
  const server = await startServer({
    server: { trustProxy: ["127.0.0.1"] },
    rateLimit: { publishable: once, secret: once, badKey: once, exempt: ["198.51.100.0/24"] },
  });
  const { secret, publishable } = await server.addEndpoint();
  for (const [key, status] of [
    [secret, 200],
    [publishable, 200],
    ["bad", 401],
  ] as const) {
    for (let sent = 0; sent < 3; sent += 1) {
      const answer = await server.post(key, goodPost, { "x-forwarded-for": "198.51.100.77" });
      expect(answer.status).toBe(status);
      expect(answer.headers["ratelimit-limit"]).toBeUndefined();
    }
  }
});

describe("bad keys", () => {
  const limits = { badKey: { max: 3, windowSeconds: 3600 } };

  test("are limited by address; past the limit only keys that were proved before are let through", async () => {
    const server = await startServer({ server: { trustProxy: ["127.0.0.1"] }, rateLimit: limits });
    const [known, fresh] = await Promise.all([server.addEndpoint(), server.addEndpoint()]);
    const from = { "x-forwarded-for": "198.51.100.7" };
    expect((await server.post(known.secret, goodPost, from)).status).toBe(200);
    const bad = [
      "malformed",
      makeKey("secret").text,
      makeKey("publishable").text,
      "malformed",
      makeKey("secret").text,
    ];
    const statuses = [];
    for (const key of bad) statuses.push((await server.post(key, goodPost, from)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await server.post(known.secret, goodPost, from)).status).toBe(200);
    expect((await server.post(fresh.secret, goodPost, from)).status).toBe(429);
    expect((await server.post(fresh.secret, goodPost, { "x-forwarded-for": "198.51.100.8" })).status).toBe(
      200,
    );
    expect((await server.post(fresh.secret, goodPost, from)).status).toBe(200);
  });

  test("in parallel cannot slip past the limit together", async () => {
    const server = await startServer({ rateLimit: limits });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => server.post(makeKey("secret").text, goodPost)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9);
  });

  test("are counted one by one when many send the same one at once", async () => {
    const server = await startServer({ rateLimit: limits });
    const { text } = makeKey("secret");
    const answers = await Promise.all(Array.from({ length: 12 }, () => server.post(text, goodPost)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
  });

  test("are not what a missing key or a genuine one counts as", async () => {
    const server = await startServer({ rateLimit: limits });
    const endpoints = await Promise.all([server.addEndpoint(), server.addEndpoint(), server.addEndpoint()]);
    for (let sent = 0; sent < 5; sent += 1) expect((await server.post(null, goodPost)).status).toBe(401);
    for (const { secret, publishable } of endpoints) {
      expect((await server.post(secret, goodPost)).status).toBe(200);
      expect((await server.post(publishable, goodPost)).status).toBe(200);
    }
    expect((await server.post("malformed", goodPost)).status).toBe(401);
  });

  test("leave a busy backend alone whose first posts come all at once", async () => {
    const server = await startServer({ rateLimit: limits });
    const { secret } = await server.addEndpoint();
    const answers = await Promise.all(Array.from({ length: 40 }, () => server.post(secret, goodPost)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});
