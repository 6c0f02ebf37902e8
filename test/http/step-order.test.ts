import { afterAll, beforeAll, expect, test } from "vitest";
import { goodPost, launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

/**
 * The steps of a post in the order of docs/architecture.md. Each entry makes a request fail at that step and at no other, so that
 * a request which fails two of them shows by its answer which came first.
 */
interface Failing {
  readonly step: string;
  readonly error: string;
  apply(request: Draft): void;
}

interface Draft {
  method: string;
  headers: Record<string, string>;
  body: string;
  key: "full" | "exhausted" | "paused" | "none";
}

let server: TestServer;
let keys: Record<Draft["key"], string>;
/** Used on the endpoint `full`, which is then at its limit, with a body that no draft has. */
const USED_KEY = "used-before";

beforeAll(async () => {
  server = await launchServer({
    plans: { one: { monthlySubmissions: 1, endpoints: null, customSpam: false } },
    // Publishable keys pass the limit for the first request only.
    rateLimit: { publishable: { max: 1, windowSeconds: 3600 } },
  });
  const full = await server.addEndpoint({ plan: "one" });
  const paused = await server.addEndpoint();
  keys = { full: full.secret, exhausted: full.publishable, paused: paused.publishable, none: "" };
  server.owner.execute(`UPDATE endpoint SET state = 'paused' WHERE id = '${paused.id}'`);
  const first = await server.post(full.secret, goodPost, { "idempotency-key": USED_KEY });
  expect(first.status).toBe(200);
  for (const key of [keys.exhausted, keys.paused]) await server.post(key, goodPost);
});
afterAll(() => server.stop());

const method: Failing = {
  step: "method",
  error: "Method not allowed",
  apply: (draft) => void (draft.method = "PUT"),
};
const mediaType: Failing = {
  step: "media type",
  error: "Unsupported media type",
  apply: (draft) => void (draft.headers["content-type"] = "text/plain"),
};
const size: Failing = {
  step: "size",
  error: "Payload too large",
  apply: (draft) => void (draft.body = draft.body.padEnd(70_000, " ")),
};
const key: Failing = { step: "key", error: "Unauthorized", apply: (draft) => void (draft.key = "none") };
const rate: Failing = {
  step: "IP limit",
  error: "Rate limit exceeded",
  apply: (draft) => void (draft.key = "exhausted"),
};
const state: Failing = {
  step: "endpoint state",
  error: "Forbidden",
  apply: (draft) => void (draft.headers["sec-fetch-site"] = "none"),
};
const replay: Failing = {
  step: "idempotent replay",
  error: "Conflict",
  apply: (draft) => void (draft.headers["idempotency-key"] = USED_KEY),
};
const month: Failing = { step: "monthly limit", error: "Submission limit exceeded", apply: () => {} };

/** On the endpoint whose month is full; what comes after the monthly limit is ordered in the next test. */
const beforeMonth: readonly (readonly [Failing, Failing])[] = [
  [method, mediaType],
  [method, size],
  [mediaType, size],
  [size, key],
  [size, rate],
  [key, state],
  [key, replay],
  [state, replay],
  [replay, month],
  [state, month],
];

test.each(beforeMonth.map(([first, second]) => ({ first, second })))(
  "a request that fails at the $first.step and the $second.step is told of the $first.step",
  async ({ first, second }) => {
    expect(await send([first])).toBe(first.error);
    expect(await send([second])).toBe(second.error);
    expect(await send([second, first])).toBe(first.error);
  },
);

test("the IP limit comes before the endpoint's state", async () => {
  const answer = await server.post(keys.paused, goodPost);
  expect(answer.json["error"]).toBe("Rate limit exceeded");
});

async function send(failures: readonly Failing[]): Promise<unknown> {
  const draft: Draft = {
    method: "POST",
    headers: {},
    body: JSON.stringify(goodPost).replace("{", "{ "),
    key: "full",
  };
  for (const failure of failures) failure.apply(draft);
  const answer = await server.request({
    method: draft.method,
    path: "/submit",
    headers: {
      "content-type": "application/json",
      ...(draft.key !== "none" && { authorization: `Bearer ${keys[draft.key]}` }),
      ...draft.headers,
    },
    body: draft.body,
  });
  return answer.json["error"];
}

const broken = "{";
const trapped = { _gotcha: "x" };
const invalid = { email: "nobody" };
/** Long enough, with enough kinds of evidence, to be blocked for its text alone. */
const spamText =
  "Click here to claim your prize money: http://a.example http://b.example http://c.example http://d.example http://e.example " +
  "buy viagra casino bonus SEO services guaranteed first page of google";

test.each([
  {
    name: "the monthly limit before the JSON",
    endpoint: "full",
    body: broken,
    error: "Submission limit exceeded",
  },
  {
    name: "the monthly limit before the honeypot",
    endpoint: "full",
    body: trapped,
    error: "Submission limit exceeded",
  },
  { name: "the JSON before all that reads it", endpoint: "open", body: broken, error: "Invalid JSON" },
  {
    name: "the honeypot before the schema, so that a robot is not told what the schema wants",
    endpoint: "open",
    body: { ...trapped, ...invalid },
    error: "Submission could not be processed",
  },
  {
    name: "the schema before the spam score",
    endpoint: "open",
    body: { ...invalid, message: spamText },
    error: "Validation failed",
  },
])("$name", async ({ endpoint, body, error }) => {
  const open: TestEndpoint = await server.addEndpoint();
  const answer = await server.post(endpoint === "full" ? keys.full : open.secret, body);
  expect(answer.json["error"]).toBe(error);
});
