import { expect, test } from "vitest";
import { createLog } from "../../src/foundation/log.ts";
import { openRaw, splitAnswers } from "../support/http-client.ts";
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
    ...misspellings(publishable).flatMap((key) => [
      server.request({ method: "GET", path: `/f/${key}` }),
      server.request({ method: "GET", path: `/nothing/here/${key}` }),
      server.request({ method: "POST", path: `/%C3%A4/${key}` }),
    ]),
  ]);
  await until(
    () => server.log.filter((line) => line.includes('"event":"request.answered"')).length >= sent.length - 1,
  );
  const all = server.log.join("");
  for (const key of [secret, publishable]) {
    expect(all).not.toContain(key);
    // Nor the part that is secret, without its prefix.
    expect(all).not.toContain(key.slice(16, 48));
  }
});

/** The same address for every reader, in letters that need no percent sign. */
function misspellings(key: string): string[] {
  const encode = (text: string, mark: string) =>
    text.replace(/./g, (letter) => `${mark}${letter.charCodeAt(0).toString(16)}`);
  return ["%", "%25", "%2525"].flatMap((mark) => [
    `${encode(key.slice(0, 1), mark)}${key.slice(1)}`,
    `${key.slice(0, 3)}${encode("_", mark)}${key.slice(4)}`,
    `${key.slice(0, 6)}${encode(key.slice(6, 8), mark)}${key.slice(8)}`,
    encode(key, mark),
  ]);
}

test("the token of a letter's link is in no line, also if a mail program changed the address or asks in another way", async () => {
  const server = await startServer();
  const token = "Zm9ybXN2Yy10b2tlbi1vZi1hLWxldHRlcg";
  const changed = [
    `/mail/unsubscribe/rcpt_1/${token}/`,
    `/mail/confirm/rcpt_1/${token}/more`,
    `//mail//confirm/rcpt_1/${token}`,
    `/Mail/Confirm/rcpt_1/${token}`,
    `/mail%2Funsubscribe%2Frcpt_1%2F${token}`,
    `/mail%252Funsubscribe%252Frcpt_1%252F${token}`,
    `/%6Dail/%63onfirm/rcpt_1/${token}/`,
    `http://forms.example/mail/confirm/rcpt_1/${token}/`,
  ].map((path) => ({ method: "GET", path }));
  const asked = ["OPTIONS", "PROPFIND", "PUT"].map((method) => ({
    method,
    path: `/mail/confirm/rcpt_1/${token}`,
  }));
  const sent = [...changed, ...asked];
  await Promise.all(sent.map((request) => server.request(request)));
  await until(
    () => server.log.filter((line) => line.includes('"event":"request.answered"')).length >= sent.length,
  );
  expect(server.log.join("")).not.toContain(token);
  expect(server.log.join("")).toContain('"path":"/mail/confirm/[redacted]"');
});

test("a request is one line with its id, method, path and status, and without its query", async () => {
  const server = await startServer();
  await server.request({ method: "GET", path: "/healthz?token=abc", headers: { "x-request-id": "r-1" } });
  const line = await until(() => server.log.find((text) => text.includes('"r-1"')));
  expect(JSON.parse(line)).toEqual({
    level: "info",
    time: expect.stringMatching(/Z$/) as string,
    event: "request.answered",
    reqId: "r-1",
    method: "GET",
    path: "/healthz",
    status: 200,
    ms: expect.any(Number) as number,
  });
  expect(line).not.toContain("abc");
});

test.each([
  ["garbage", "\u0016\u0003\u0001 fsk_abcdefgh1234\r\n\r\n", 400, "HPE_INVALID_METHOD"],
  ["oversized headers", `GET / HTTP/1.1\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431, "HPE_HEADER_OVERFLOW"],
  ["headers that never end", "GET / HTTP/1.1\r\n", 408, "ERR_HTTP_REQUEST_TIMEOUT"],
  ["a tunnel", "CONNECT a:1 HTTP/1.1\r\n\r\n", 400, "CONNECT"],
])("%s is one line too, with the id that was answered and nothing of what came", async (_, sent, ...said) => {
  const server = await startServer({ server: { requestTimeoutMs: 300 } });
  const known = (await server.request({ method: "GET", path: "/healthz" })).headers["x-request-id"];
  const connection = await openRaw(server.port);
  connection.write(sent);
  const [answer] = splitAnswers(await connection.closed);
  const lines = server.log.filter((line) => line.includes('"event":"request.unreadable"'));
  const [status, reason] = said;
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/Z$/) as string,
      event: "request.unreadable",
      reqId: answer?.headers["x-request-id"],
      status,
      reason,
    },
  ]);
  expect(answer?.status).toBe(status);
  // The server's own form: what it calls itself, and a count.
  expect(String(answer?.headers["x-request-id"]).split("-")[0]).toBe(String(known).split("-")[0]);
});

test("a client that goes on after it was refused is one line", async () => {
  const server = await startServer();
  const connection = await openRaw(server.port);
  connection.write("no HTTP\r\n\r\n");
  const more = setInterval(() => connection.write("still no HTTP\r\n\r\n"), 5);
  await connection.closed.finally(() => clearInterval(more));
  expect(server.log.filter((line) => line.includes("request.unreadable"))).toHaveLength(1);
});

test("keys, tokens and webhook secrets are cut out of a line wherever they stand, and silence writes nothing", () => {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line) };
  const secrets = [
    "fsk_abcdefgh1234",
    "fpk_abcdefgh1234",
    "fat_abcdefgh1234",
    "whsec_abcd+efgh/1234=",
    "fpk_abcdefgh1234/fsk_abcdefgh1234",
    "whsec_abcdefgh/fsk_abcdefgh1234",
  ];
  const log = createLog("info", sink);
  for (const secret of secrets) {
    log.info({ path: `/f/${secret}`, err: new Error(`no ${secret}`), [secret]: 1, list: [secret] }, secret);
  }
  expect(lines).toHaveLength(secrets.length);
  expect(lines.join("")).not.toMatch(/abcd|efgh|1234/);
  const paths = lines.map((line) => (JSON.parse(line) as { path: string }).path);
  expect(new Set(paths)).toEqual(new Set(["/f/[redacted]", "/f/[redacted]/[redacted]"]));
  createLog("silent", sink).fatal("nothing");
  expect(lines).toHaveLength(secrets.length);
});
