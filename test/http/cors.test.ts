import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, exchangeRaw, splitAnswers } from "../support/http-client.ts";
import { goodPost, launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let open: TestEndpoint;
let listed: TestEndpoint;

beforeAll(async () => {
  server = await launchServer({ rateLimit: { publishable: { max: 50 } } });
  open = await server.addEndpoint();
  listed = await server.addEndpoint({
    settings: { allowedOrigins: ["https://example.com", "https://*.example.org", "null"] },
  });
});
afterAll(() => server.stop());

const EXPOSED = [
  "retry-after",
  "x-request-id",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "x-formsvc-notice",
];

function exposed(answer: Answer): string[] {
  return (answer.headers["access-control-expose-headers"] ?? "").toLowerCase().split(", ");
}

test("a preflight is answered 204 for a day, for any origin, without a key", async () => {
  const answer = await server.request({
    method: "OPTIONS",
    path: "/submit",
    headers: {
      origin: "https://anywhere.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,idempotency-key",
    },
  });
  expect([answer.status, answer.text]).toEqual([204, ""]);
  expect(answer.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key",
    "access-control-max-age": "86400",
  });
});

test("an endpoint without origins lets every page read, and needs no Vary", async () => {
  const answer = await server.post(open.publishable, goodPost, { origin: "https://anywhere.example" });
  expect(answer.status).toBe(200);
  expect(answer.headers["access-control-allow-origin"]).toBe("*");
  expect(answer.headers["vary"]).toBeUndefined();
  expect(exposed(answer)).toEqual(EXPOSED);
});

test.each(["https://example.com", "https://forms.example.org", "https://a.b.example.org", "null"])(
  "the listed origin %s may post and read, alone",
  async (origin) => {
    const answer = await server.post(listed.publishable, goodPost, { origin });
    expect(answer.status).toBe(200);
    expect(answer.headers["access-control-allow-origin"]).toBe(origin);
    expect(answer.headers["vary"]).toBe("Origin");
  },
);

test.each([
  "https://example.org",
  "http://example.com",
  "https://example.com:8443",
  "https://example.com.evil.example",
  "https://evilexample.org",
  "https://evil.example/.example.org",
  "https://evil@x.example.org",
  "HTTPS://EXAMPLE.COM",
  "",
])("the origin %j is not taken for a listed one, yet may read why", async (origin) => {
  const answer = await server.post(listed.publishable, goodPost, { origin });
  expect(answer.status).toBe(403);
  expect(answer.headers["access-control-allow-origin"]).toBe("*");
  expect(answer.headers["vary"]).toBe("Origin");
});

const errors: readonly [string, number, () => Promise<Answer>][] = [
  ["validation", 400, () => server.post(listed.publishable, {}, { origin: "https://example.com" })],
  ["no key", 401, () => server.post(null, goodPost)],
  ["unknown address", 404, () => server.request({ method: "POST", path: "/nope" })],
  ["undecodable address", 404, () => server.request({ method: "POST", path: "/%" })],
  ["wrong method", 405, () => server.request({ method: "PUT", path: "/submit" })],
  ["too large", 413, () => server.post(open.publishable, "x".repeat(70_000))],
  ["media type", 415, () => server.post(open.publishable, "x", { "content-type": "text/plain" })],
  ["spam", 429, () => server.post(open.publishable, { ...goodPost, _honey: "x" })],
  ["broken HTTP", 400, () => rawAnswer("POST /submit HTTP/1.1\r\nContent-Length: x\r\n\r\n")],
  ["large headers", 431, () => rawAnswer(`GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`)],
];

test.each(errors)(
  "the error of %s (%i) can be read by a page, with its request id",
  async (_, status, send) => {
    const answer = await send();
    expect(answer.status).toBe(status);
    expect(answer.headers["access-control-allow-origin"]).toMatch(/^(?:\*|https:\/\/example\.com)$/);
    expect(exposed(answer)).toContain("x-request-id");
    expect(answer.json["error"]).toEqual(expect.any(String));
  },
);

async function rawAnswer(bytes: string): Promise<Answer> {
  const [answer] = splitAnswers(await exchangeRaw(server.port, bytes));
  if (answer === undefined) throw new Error("no answer");
  return answer;
}
