import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeKey } from "../../src/keys/key-format.ts";
import { sendRequest } from "../support/http-client.ts";
import { goodPost, launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

const SITE = "https://bakery.example";
const HELD = "We have your message; it may take a little longer until it is read.";
const schema = { name: { type: "string", required: true, maxLength: 100 } } as const;
/** Room for one held post of 1 MiB, in a server that takes larger ones. */
const plan = { monthlySubmissions: 1, endpoints: null, customSpam: false, heldBytes: 1_048_576 };

let server: TestServer;
let open: TestEndpoint;
let listed: TestEndpoint;
let full: TestEndpoint;

beforeAll(async () => {
  server = await launchServer({
    server: { bodyLimitBytes: 4_194_304 },
    plans: { full: plan },
    rateLimit: { publishable: { max: 3, windowSeconds: 60 }, exempt: ["198.51.100.0/24"] },
  });
  open = await server.addEndpoint({ schema });
  const settings = { allowedOrigins: [SITE], errorUrl: `${SITE}/oops` };
  listed = await server.addEndpoint({ schema, settings });
  full = await server.addEndpoint({ plan: "full" });
  expect((await server.post(full.secret, goodPost)).status).toBe(200);
});
afterAll(() => server.stop());

interface Answered {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

async function answersOf(name: string): Promise<readonly Answered[]> {
  const submit = (key: string, body: unknown, headers: Record<string, string> = {}) =>
    server.post(key, body, headers);
  const form = (key: string, body: string, headers: Record<string, string> = {}) =>
    server.request({
      method: "POST",
      path: `/f/${key}`,
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        ...headers,
      },
      body,
    });
  const large = "a".repeat(4_200_000);
  const wrong = makeKey("publishable").text;
  const strange = { origin: "https://other.example" };
  switch (name) {
    case "data that do not match":
      return [await submit(open.secret, {}), await form(open.publishable, "name=")];
    case "a body that is no JSON":
      return [await submit(open.secret, "{")];
    case "a body that is too large":
      return [await submit(open.secret, { name: large }), await form(open.publishable, `name=${large}`)];
    case "another media type":
      return [
        await submit(open.secret, { name: "A" }, { "content-type": "text/plain" }),
        await form(open.publishable, "name=A", { "content-type": "text/plain" }),
      ];
    case "a compressed body":
      return [await submit(open.secret, { name: "A" }, { "content-encoding": "gzip" })];
    case "an unknown key":
      return [await submit(wrong, { name: "A" }), await form(wrong, "name=A")];
    case "a foreign origin":
      return [
        await submit(listed.publishable, { name: "A" }, strange),
        await form(listed.publishable, "name=A", strange),
      ];
    case "a filled honeypot":
      return [
        await submit(open.secret, { name: "A", _gotcha: "x" }),
        await submit(open.secret, { _gotcha: "x" }),
      ];
    case "a malformed Idempotency-Key":
      return [await submit(open.secret, { name: "A" }, { "idempotency-key": "ä" })];
    case "a key of another body": {
      await submit(open.secret, { name: "A" }, { "idempotency-key": "one" });
      return [await submit(open.secret, { name: "B" }, { "idempotency-key": "one" })];
    }
    case "too many posts": {
      for (let sent = 0; sent < 3; sent += 1) await form(open.publishable, "name=A");
      return [await form(open.publishable, "name=A"), await submit(open.publishable, { name: "A" })];
    }
    case "a full month":
      return [await submit(full.secret, goodPost), await submit(full.secret, {})];
    default:
      throw new Error(name);
  }
}

describe("an error of a post has a sentence for the visitor, without a word about plans, keys or the schema", () => {
  test.each([
    "data that do not match",
    "a body that is no JSON",
    "a body that is too large",
    "another media type",
    "a compressed body",
    "an unknown key",
    "a foreign origin",
    "a filled honeypot",
    "a malformed Idempotency-Key",
    "a key of another body",
    "a full month",
    "too many posts",
  ])("%s", async (name) => {
    for (const { status, json } of await answersOf(name)) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(Object.keys(json).slice(0, 3)).toEqual(["error", "message", "visitor_message"]);
      const sentence = json["visitor_message"];
      expect(sentence).toMatch(/^[A-Z].{10,120}\.$/);
      expect(sentence).not.toMatch(
        /plan|limit|month|upgrade|key|schema|origin|header|JSON|spam|content-type/i,
      );
      expect(json["message"]).not.toBe(sentence);
    }
  });

  test("a body that does not come on", async () => {
    const slow = await launchServer({ server: { requestTimeoutMs: 500 } });
    try {
      const { secret } = await slow.addEndpoint({ schema });
      const { status, json } = await sendRequest(slow.url, {
        method: "POST",
        path: "/submit",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${secret}`,
          "content-length": "100",
        },
        body: "{",
      });
      expect([status, json["visitor_message"]]).toEqual([
        408,
        "Your message took too long to arrive. Please send it again.",
      ]);
    } finally {
      await slow.stop();
    }
  });
});

test("an error that no visitor meets has no sentence for one", async () => {
  for (const path of ["/submissions", "/submissions/sub_x", "/nothing"]) {
    const { json } = await server.request({ method: "GET", path });
    expect(Object.keys(json).slice(0, 2)).toEqual(["error", "message"]);
    expect(json).not.toHaveProperty("visitor_message");
  }
});

describe("when the month is full", () => {
  const submit = (body: object, headers = {}) => server.post(full.secret, body, headers);

  test("the visitor reads that the message is there if it is held, and the developer reads of the limit", async () => {
    const { status, json } = await submit({ ...goodPost, message: "Is it held?" });
    expect(status).toBe(429);
    expect(json).toMatchObject({
      error: "Submission limit exceeded",
      message: expect.stringContaining("upgrade the plan") as string,
      visitor_message: HELD,
      limit: 1,
      remainingSubmissions: 0,
    });
    expect(json["notices"]).toEqual(["held"]);
    const held = server.owner.prepare("SELECT count(*) FROM held WHERE data LIKE '%Is it held?%'").pluck();
    expect(held.get()).toBe(1);
  });

  test.each([
    ["a post that does not match", {}],
    ["a post that is larger than the plan's room", { ...goodPost, message: "a".repeat(1_100_000) }],
  ])("%s is not held, and its visitor is not told that it is", async (_, body) => {
    const before = server.owner.prepare("SELECT count(*) FROM held").pluck().get();
    const { json } = await submit(body);
    expect(json["error"]).toBe("Submission limit exceeded");
    expect(json["visitor_message"]).toMatch(/cannot take your message right now/);
    expect(json).not.toHaveProperty("notices");
    expect(server.owner.prepare("SELECT count(*) FROM held").pluck().get()).toBe(before);
  });

  test("the page says so too, without the form, and its facts do not name the limit", async () => {
    const page = await server.request({
      method: "POST",
      path: `/f/${full.publishable}`,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: SITE },
      body: new URLSearchParams(goodPost).toString(),
    });
    expect(page.status).toBe(429);
    expect(page.text).toContain("<h1>We have your message</h1>");
    expect(page.text).toContain(`<p>${HELD}</p>`);
    expect(page.text).not.toMatch(/limit|month|plan|was not sent|Back button/i);
  });

  test("the answer to a repeated Idempotency-Key stays what it was, byte for byte", async () => {
    const { secret } = await server.addEndpoint({ plan: "full" });
    const key = { "idempotency-key": "first" };
    const first = await server.post(secret, goodPost, key);
    expect((await server.post(secret, goodPost)).status).toBe(429);
    const again = await server.post(secret, goodPost, key);
    expect([again.status, again.text]).toEqual([200, first.text]);
  });
});

test("the page for errors is told in one word what became of the form, and nothing of plans", async () => {
  const settings = { errorUrl: `${SITE}/oops?a=1` };
  const leads = await server.addEndpoint({ plan: "full", settings: { ...settings, allowedOrigins: [SITE] } });
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const { status, headers: got } = await server.request({
      method: "POST",
      path: `/f/${leads.publishable}`,
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        origin: SITE,
        "x-forwarded-for": "192.0.2.1",
        ...headers,
      },
      body,
    });
    return [status, got["location"]];
  };
  const good = new URLSearchParams(goodPost).toString();
  const at = (problem: string) => [303, `${SITE}/oops?a=1&error=${problem}`];
  expect(await post("name=")).toEqual(at("invalid"));
  expect(await post(good, { origin: "https://other.example" })).toEqual(at("refused"));
  await server.post(leads.secret, goodPost);
  expect(await post(good)).toEqual(at("held"));
  expect(await post(good)).toEqual(at("later"));
});
