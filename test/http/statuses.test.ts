import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeKey } from "../../src/keys/key-format.ts";
import { revokeKey } from "../../src/keys/issue-key.ts";
import { listKeys } from "../../src/keys/key-store.ts";
import type { Answer } from "../support/http-client.ts";
import { goodPost, launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

let server: TestServer;
/** `open` takes everything; the others each have a reason to refuse. */
let keys: Record<"open" | "origins" | "paused" | "full" | "revoked", TestEndpoint>;

beforeAll(async () => {
  server = await launchServer({
    plans: { full: { monthlySubmissions: 7, endpoints: null, customSpam: false } },
  });
  const [open, origins, paused, full, revoked] = await Promise.all([
    server.addEndpoint(),
    server.addEndpoint({ settings: { allowedOrigins: ["https://example.com"] } }),
    server.addEndpoint(),
    server.addEndpoint({ plan: "full" }),
    server.addEndpoint(),
  ]);
  keys = { open, origins, paused, full, revoked };
  server.owner.execute(`UPDATE endpoint SET state = 'paused' WHERE id = '${paused.id}'`);
  server.owner.execute(`
    INSERT INTO usage (workspace_id, month, used) VALUES ('${full.workspaceId}', '2026-06', 7);
  `);
  for (const key of server.owner.now(() => listKeys(revoked.id)))
    server.owner.now(() => revokeKey(key.id, server.clock.now()));
});
afterAll(() => server.stop());

interface Scenario {
  readonly name: string;
  readonly key?: () => string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly status: number;
  readonly error?: string;
  readonly answer?: (answer: Answer) => void;
}

const header =
  (name: string, value: string | RegExp | undefined) =>
  (answer: Answer): void => {
    if (value instanceof RegExp) expect(answer.headers[name]).toMatch(value);
    else expect(answer.headers[name]).toBe(value);
  };
const anyText = expect.any(String) as string;
const spam = { ...goodPost, _gotcha: "https://spam.example" };
const secret = () => keys.open.secret;
const browser = { origin: "https://example.com" };

const scenarios: readonly Scenario[] = [
  {
    name: "a good post with the secret key is received",
    status: 200,
    answer: ({ json }) =>
      expect(json).toEqual({
        success: true,
        message: "Submission received",
        submission_id: expect.stringMatching(/^sub_[0-9a-hjkmnp-tv-z]{26}$/) as unknown,
      }),
  },
  { name: "a good post with the publishable key is received", key: () => keys.open.publishable, status: 200 },
  {
    name: "a post that breaks the schema names every failing field at once, in Zod's issue format",
    body: { email: "nobody" },
    status: 400,
    error: "Validation failed",
    answer: ({ json }) =>
      expect(json["details"]).toEqual({
        name: {
          name: "ZodError",
          issues: [
            {
              code: "invalid_type",
              expected: "string",
              received: "undefined",
              path: ["name"],
              message: anyText,
            },
          ],
        },
        email: {
          name: "ZodError",
          issues: [{ code: "invalid_string", validation: "email", path: ["email"], message: anyText }],
        },
      }),
  },
  { name: "a body that is not JSON is named as such", body: "{", status: 400, error: "Invalid JSON" },
  { name: "an array is not taken for an object", body: [goodPost], status: 400, error: "Invalid JSON" },
  { name: "an empty body is told apart from bad JSON", body: "", status: 400, error: "Invalid JSON" },
  {
    name: "a body that is not UTF-8 is refused",
    body: Buffer.from([0x7b, 0xff, 0x7d]),
    status: 400,
    error: "Invalid JSON",
  },
  ...["", " ", "a b", "ü", "a".repeat(256)].map((key) => ({
    name: `the Idempotency-Key ${JSON.stringify(key.slice(0, 9))} (${key.length} characters) is refused by name`,
    headers: { "idempotency-key": key },
    status: 400,
    error: "Invalid request",
    answer: ({ json }: Answer) => expect(json["details"]).toHaveProperty("Idempotency-Key"),
  })),
  {
    name: "an X-Submitter-IP that is no address is refused by name",
    headers: { "x-submitter-ip": "999.1.1.1" },
    status: 400,
    error: "Invalid request",
    answer: ({ json }) => expect(json["details"]).toHaveProperty("X-Submitter-IP"),
  },
  { name: "a paused endpoint forbids", key: () => keys.paused.secret, status: 403, error: "Forbidden" },
  {
    name: "an origin that the endpoint does not list is forbidden",
    key: () => keys.origins.publishable,
    headers: { origin: "https://evil.example" },
    status: 403,
    error: "Forbidden",
  },
  {
    name: "a publishable key without an Origin is forbidden if the endpoint lists origins",
    key: () => keys.origins.publishable,
    status: 403,
    error: "Forbidden",
  },
  { name: "a listed origin may post", key: () => keys.origins.publishable, headers: browser, status: 200 },
  {
    name: "a secret key needs no Origin even if the endpoint lists some",
    key: () => keys.origins.secret,
    status: 200,
  },
  { name: "a secret key with an Origin is forbidden", headers: browser, status: 403, error: "Forbidden" },
  {
    name: "a secret key with Sec-Fetch-Site is forbidden",
    headers: { "sec-fetch-site": "none" },
    status: 403,
    error: "Forbidden",
  },
  {
    name: "Sec-Fetch-Mode alone, which Node's fetch sends, is no browser",
    headers: { "sec-fetch-mode": "cors" },
    status: 200,
  },
  { name: "an unknown address is not found", path: "/nowhere", status: 404, error: "Not found" },
  {
    name: "an unknown address is not found whatever the media type",
    path: "/nowhere",
    headers: { "content-type": "text/plain" },
    body: "x",
    status: 404,
    error: "Not found",
  },
  {
    name: "an unknown address is not found whatever the size",
    path: "/nowhere",
    body: "x".repeat(70_000),
    status: 404,
    error: "Not found",
  },
  { name: "an address that cannot be decoded is not found", path: "/%", status: 404, error: "Not found" },
  ...[100, 101, 16_000].map((length) => ({
    name: `a malformed key of ${length} characters in a form's address is unauthorized`,
    path: `/f/${"A".repeat(length)}`,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: "name=Ana",
    status: 401,
    error: "Unauthorized",
  })),
  {
    name: "a very long address is not found",
    path: `/${"a/".repeat(4000)}`,
    status: 404,
    error: "Not found",
  },
  ...["GET", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "QUERY"].map((method) => ({
    name: `${method} is not allowed on /submit, and Allow says what is`,
    method,
    status: 405,
    error: "Method not allowed",
    answer: header("allow", "OPTIONS, POST"),
  })),
  ...["/submi%74", "/%73ubmit?a=b", "http://example.com/submit", "HTTP://example.com/submit?/"].map(
    (path) => ({
      name: `GET ${path} is not allowed, because it is /submit`,
      method: "GET",
      path,
      status: 405,
      error: "Method not allowed",
    }),
  ),
  ...["/submi%74", "http://example.com/submit"].map((path) => ({
    name: `a POST to ${path} is one to /submit`,
    path,
    status: 200,
  })),
  ...["/submit%2F", "/submit%zz", "ftp://example.com/submit", "http:///submit"].map((path) => ({
    name: `${path} is not found`,
    method: "PROPFIND",
    path,
    status: 404,
    error: "Not found",
  })),
  {
    name: "a POST to /healthz is not allowed",
    path: "/healthz",
    status: 405,
    error: "Method not allowed",
    answer: header("allow", "GET, HEAD"),
  },
  {
    name: "a body one byte over the limit is too large, and the message names the limit",
    body: "x".repeat(65_537),
    status: 413,
    error: "Payload too large",
    answer: ({ json }) => expect(json["message"]).toContain("65536"),
  },
  {
    name: "a body exactly at the limit is read",
    body: " ".repeat(65_536),
    status: 400,
    error: "Invalid JSON",
  },
  ...[
    "application/json",
    "Application/JSON; Charset=UTF-8",
    'application/json;charset="utf-8"',
    "application/json; charset=utf8",
    "application/json; profile=x",
    'application/json; profile="a;charset=x"',
    'application/json; profile="a\\";charset=x\\\\"; charset=utf-8',
    "application/json;",
  ].map((type) => ({ name: `${type} is taken`, headers: { "content-type": type }, status: 200 })),
  ...[
    "application/json; charset=iso-8859-1",
    "application/json; charset=utf-16",
    "application/json; charset=utf-8; charset=latin1",
    'application/json; profile="a"; charset="latin1"',
    'application/json; charset="utf-8;charset=utf-8"',
    "application/json, text/plain",
    "application/jsonp",
    "application/vnd.api+json",
    "application/x-www-form-urlencoded",
    "text/plain",
    "multipart/form-data; boundary=x",
    "",
    ";",
  ].map((type) => ({
    name: `the media type ${JSON.stringify(type)} is refused`,
    headers: { "content-type": type },
    status: 415,
    error: "Unsupported media type",
  })),
  {
    name: "a full month answers the limit, nothing remaining, and when the next month begins",
    key: () => keys.full.secret,
    status: 429,
    error: "Submission limit exceeded",
    answer: ({ json, headers }) => {
      expect(json).toMatchObject({ limit: 7, remainingSubmissions: 0 });
      expect(json["message"]).toMatch(/monthly limit.*upgrade/);
      expect(Number(headers["retry-after"])).toBe((Date.UTC(2026, 6, 1) - server.clock.now()) / 1000);
    },
  },
  {
    name: "spam is told nothing: no Retry-After, no score, no reason",
    body: spam,
    status: 429,
    error: "Submission could not be processed",
    answer: ({ json, headers }) => {
      expect(headers["retry-after"]).toBeUndefined();
      expect(json).toEqual({
        error: "Submission could not be processed",
        message: "The submission appears to be spam and was blocked.",
        visitor_message: "Your message could not be sent. Please get in touch in another way.",
      });
    },
  },
  { name: "an expectation that nobody knows is ignored", headers: { expect: "bananas" }, status: 200 },
];

test.each(scenarios)("$name ($status)", async (scenario) => {
  const before = server.stored().length;
  const { method = "POST", path = "/submit", body = goodPost } = scenario;
  const answer = await server.request({
    method,
    path,
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${(scenario.key ?? secret)()}`,
      ...scenario.headers,
    },
    ...(method !== "GET" && {
      body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    }),
  });

  expect({ status: answer.status, error: answer.json["error"] }).toEqual({
    status: scenario.status,
    error: scenario.error,
  });
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(answer.headers["x-request-id"]).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  if (path !== "/healthz") expect(answer.headers["access-control-allow-origin"]).toBeDefined();
  if (scenario.status !== 200) expect(answer.json["message"]).toEqual(expect.stringMatching(/\S{3}/));
  expect(server.stored().length - before).toBe(scenario.status === 200 ? 1 : 0);
  scenario.answer?.(answer);
});

describe("the 401", () => {
  const bad: readonly [string, () => Record<string, string>][] = [
    ["missing", () => ({})],
    ["empty", () => ({ authorization: "" })],
    ["of another scheme", () => ({ authorization: `Basic ${keys.open.secret}` })],
    ["without a token", () => ({ authorization: "Bearer " })],
    ["malformed", () => ({ authorization: "Bearer fsk_nothing" })],
    ["mistyped", () => ({ authorization: `Bearer ${keys.open.secret.slice(0, -1)}~` })],
    ["very long", () => ({ authorization: `Bearer fsk_${"a".repeat(9000)}` })],
    ["unknown", () => ({ authorization: `Bearer ${makeKey("secret").text}` })],
    ["revoked", () => ({ authorization: `Bearer ${keys.revoked.secret}` })],
    ["publishable and revoked", () => ({ authorization: `Bearer ${keys.revoked.publishable}` })],
  ];
  test.each(bad)("of a key that is %s has the one body that all have", async (_, headers) => {
    const answer = await server.request({
      method: "POST",
      path: "/submit",
      headers: { "content-type": "application/json", ...headers() },
      body: JSON.stringify(goodPost),
    });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.json).toEqual({
      error: "Unauthorized",
      message: "A valid API key is required: Authorization: Bearer <API_KEY>.",
      visitor_message: "This form is not set up correctly. Please tell the owner of the site.",
    });
  });

  test("is not given for a key whose scheme is written in another case or with more blanks", async () => {
    for (const scheme of ["bearer ", "BEARER ", "Bearer   "]) {
      const answer = await server.post(null, goodPost, { authorization: `${scheme}${keys.open.secret}` });
      expect(answer.status).toBe(200);
    }
  });
});

describe("X-Request-Id", () => {
  test.each(["a", "A-Za-z0-9_-", "x".repeat(64)])("%j is taken from the request", async (id) => {
    const answer = await server.post(keys.open.secret, goodPost, { "x-request-id": id });
    expect(answer.headers["x-request-id"]).toBe(id);
  });

  test.each(["", "x".repeat(65), "a b", "a;b", "é", "a, b"])("%j is replaced by our own", async (id) => {
    const answer = await server.post(keys.open.secret, goodPost, { "x-request-id": id });
    expect(answer.headers["x-request-id"]).not.toBe(id);
    expect(answer.headers["x-request-id"]).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test("differs between requests that name none", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request({ method: "GET", path: "/healthz" })),
    );
    expect(new Set(answers.map(({ headers }) => headers["x-request-id"])).size).toBe(20);
  });
});

test("a body too large is refused the same when it comes in chunks", async () => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${keys.open.secret}` };
  const body = "x".repeat(65_537);
  const answer = await server.request({ method: "POST", path: "/submit", headers, body, chunked: true });
  expect(answer.status).toBe(413);
  expect(answer.json["message"]).toContain("65536");
});

test("HEAD on /submit is answered 405 without a body", async () => {
  const answer = await server.request({ method: "HEAD", path: "/submit" });
  expect([answer.status, answer.text, answer.headers["allow"]]).toEqual([405, "", "OPTIONS, POST"]);
});

test("/healthz says that the process is up and /readyz that it takes posts", async () => {
  const [health, ready] = await Promise.all(
    ["/healthz", "/readyz"].map((path) => server.request({ method: "GET", path })),
  );
  expect([health?.json, ready?.json]).toEqual([{ status: "ok" }, { status: "ready" }]);
});
