import { expect, test } from "vitest";
import { createLog } from "../../src/foundation/log.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

test("no log line ever holds a key, wherever a client puts it", async () => {
  const server = await startServer({ log: { level: "trace" } });
  const { secret, publishable } = await server.addEndpoint();
  const sent = await Promise.all([
    server.post(secret, goodPost),
    server.post(secret, goodPost, { origin: "https://example.com" }),
    server.post(publishable, { ...goodPost, message: secret }),
    server.post(`${secret}x`, goodPost),
    server.post(secret, secret),
    server.post(secret, goodPost, {
      "x-request-id": secret,
      "idempotency-key": secret,
      "user-agent": secret,
    }),
    server.post(null, goodPost, { authorization: secret, "x-forwarded-for": secret, cookie: secret }),
    server.request({ method: "GET", path: `/submit?key=${secret}` }),
    server.request({ method: "GET", path: `/f/${publishable}/${secret}?${secret}` }),
    server.request({ method: "GET", path: `/${secret}` }),
    server.request({ method: "GET", path: `/${"a".repeat(180)}${secret}` }),
    server.request({ method: "GET", path: `/%${secret}` }),
  ]);
  await until(
    () => server.log.filter((line) => line.includes('"event":"request"')).length >= sent.length - 1,
  );
  const all = server.log.join("");
  for (const key of [secret, publishable]) {
    expect(all).not.toContain(key);
    // Nor the part that is secret, without its prefix.
    expect(all).not.toContain(key.slice(16, 48));
  }
});

test("a request is one line with its id, method, path and status, and without its query", async () => {
  const server = await startServer();
  await server.request({ method: "GET", path: "/healthz?token=abc", headers: { "x-request-id": "r-1" } });
  const line = await until(() => server.log.find((text) => text.includes('"r-1"')));
  expect(JSON.parse(line)).toEqual({
    level: "info",
    time: expect.stringMatching(/Z$/) as string,
    event: "request",
    reqId: "r-1",
    method: "GET",
    path: "/healthz",
    status: 200,
    ms: expect.any(Number) as number,
  });
  expect(line).not.toContain("abc");
});

test("keys and webhook secrets are cut out of a line wherever they stand, and silence writes nothing", () => {
  const lines: string[] = [];
  const sink = () => ({ write: (line: string) => void lines.push(line) });
  const secrets = [
    "fsk_abcdefgh1234",
    "fpk_abcdefgh1234",
    "whsec_abcd+efgh/1234=",
    "fpk_abcdefgh1234/fsk_abcdefgh1234",
    "whsec_abcdefgh/fsk_abcdefgh1234",
  ];
  const log = createLog("info", "json", sink);
  for (const secret of secrets) {
    log.info({ path: `/f/${secret}`, err: new Error(`no ${secret}`), [secret]: 1, list: [secret] }, secret);
  }
  expect(lines).toHaveLength(secrets.length);
  expect(lines.join("")).not.toMatch(/abcd|efgh|1234/);
  const paths = lines.map((line) => (JSON.parse(line) as { path: string }).path);
  expect(new Set(paths)).toEqual(new Set(["/f/[redacted]", "/f/[redacted]/[redacted]"]));
  createLog("silent", "json", sink).fatal("nothing");
  expect(lines).toHaveLength(secrets.length);
});
