import { afterAll, beforeAll, expect, test } from "vitest";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { goodPost, launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let plain: TestEndpoint;
beforeAll(async () => {
  server = await launchServer();
  plain = await server.addEndpoint();
});
afterAll(() => server.stop());

const SPAM = "Submission could not be processed";

async function outcome(key: string, body: Record<string, unknown>): Promise<[number, unknown]> {
  const { status, json } = await server.post(key, body);
  return [status, json["error"]];
}

async function storedBy(endpoint: TestEndpoint, body: Record<string, unknown>): Promise<unknown> {
  const { json } = await server.post(endpoint.secret, body);
  const row = server.owner
    .prepare("SELECT data FROM submission WHERE id = ?")
    .pluck()
    .get(json["submission_id"]);
  return row === undefined ? json : JSON.parse(row as string);
}

test.each(["_gotcha", "_honeypot", "_honey", "botcheck"])(
  "the honeypot %s blocks when it is filled",
  async (name) => {
    expect(await outcome(plain.secret, { ...goodPost, [name]: "https://spam.example" })).toEqual([429, SPAM]);
  },
);

test.each([
  ["a text", "x"],
  ["a blank", " "],
  ["false", false],
  ["0", 0],
  ["an empty array", []],
  ["an empty object", {}],
])("%s fills a honeypot", async (_, value) => {
  expect(await outcome(plain.secret, { ...goodPost, _gotcha: value })).toEqual([429, SPAM]);
});

test.each([
  ["an empty text", ""],
  ["null", null],
])("%s leaves a honeypot empty", async (_, value) => {
  expect(await storedBy(plain, { ...goodPost, _gotcha: value, botcheck: value })).toEqual(goodPost);
});

test("a honeypot that repeats the person's own value, as autofill does, only marks the post", async () => {
  const { json } = await server.post(plain.secret, { ...goodPost, _honey: goodPost.email });
  const row = server.owner
    .prepare("SELECT data, spam_score, spam_reasons FROM submission WHERE id = ?")
    .get(json["submission_id"]) as { data: string; spam_score: number; spam_reasons: string };
  expect(JSON.parse(row.data)).toEqual(goodPost);
  expect(row.spam_score).toBeGreaterThan(25);
  expect(row.spam_score).toBeLessThan(76);
  expect(JSON.parse(row.spam_reasons)).toContainEqual(
    expect.objectContaining({ signal: "honeypot-autofill", field: "_honey" }),
  );
});

test("a schema that declares a honeypot's name makes it an ordinary field", async () => {
  const schema: SchemaDefinition = {
    ...exampleSchema,
    botcheck: { type: "string" },
    _gotcha: { type: "string" },
  };
  const endpoint = await server.addEndpoint({ schema });
  const body = { ...goodPost, botcheck: "yes", _gotcha: "field" };
  expect(await storedBy(endpoint, body)).toEqual(body);
  expect(await outcome(endpoint.secret, { ...body, _honey: "x" })).toEqual([429, SPAM]);
});

test("an endpoint's own list of honeypots replaces the built-in one", async () => {
  const endpoint = await server.addEndpoint({
    settings: { honeypots: ["website", "_trap"], unknownFields: "keep" },
  });
  expect(await outcome(endpoint.secret, { ...goodPost, website: "x" })).toEqual([429, SPAM]);
  expect(await outcome(endpoint.secret, { ...goodPost, _trap: "x" })).toEqual([429, SPAM]);
  expect(await storedBy(endpoint, { ...goodPost, _gotcha: "x", botcheck: "x", website: "" })).toEqual({
    ...goodPost,
    botcheck: "x",
  });
});

test("control members are never stored and never refused, whatever the endpoint does with unknown members", async () => {
  for (const unknownFields of ["set-aside", "drop", "keep", "reject"] as const) {
    const endpoint = await server.addEndpoint({ settings: { unknownFields } });
    expect(await storedBy(endpoint, { ...goodPost, _elapsed_ms: 9000, _anything: { a: 1 }, _: 1 })).toEqual(
      goodPost,
    );
  }
});

test("a declared control member is a field like any other", async () => {
  const endpoint = await server.addEndpoint({ schema: { _note: { type: "number", required: true } } });
  expect(await storedBy(endpoint, { _note: 4, _other: 5 })).toEqual({ _note: 4 });
  expect((await outcome(endpoint.secret, { _note: "x" }))[0]).toBe(400);
});

test.each([
  ["drop", { ...goodPost }],
  ["keep", { ...goodPost, extra: { deep: [1] }, constructor: "x" }],
] as const)("unknown members are treated as the endpoint says: %s", async (unknownFields, expected) => {
  const endpoint = await server.addEndpoint({ settings: { unknownFields } });
  const body = `{"extra":{"deep":[1],"__proto__":{"a":1}},"constructor":"x","__proto__":{"b":2},${JSON.stringify(goodPost).slice(1)}`;
  const { json } = await server.post(endpoint.secret, body);
  const row = server.owner
    .prepare("SELECT data FROM submission WHERE id = ?")
    .pluck()
    .get(json["submission_id"]);
  expect(JSON.parse(row as string)).toEqual(expected);
});

test("reject names each unknown member, but neither __proto__ nor control members", async () => {
  const endpoint = await server.addEndpoint({ settings: { unknownFields: "reject" } });
  const body = `{"extra":1,"more":2,"_x":3,"__proto__":4,${JSON.stringify(goodPost).slice(1)}`;
  const { status, json } = await server.post(endpoint.secret, body);
  expect(status).toBe(400);
  expect(Object.keys(json["details"] as object).sort()).toEqual(["extra", "more"]);
});

test.each([
  [200, 30],
  ["200", 30],
  [2000, 15],
  [45_000, null],
  [-5, null],
  ["", null],
  ["soon", null],
  [{}, null],
  [null, null],
])("_elapsed_ms of %j costs %j points if a message was typed", async (elapsed, points) => {
  const body = {
    ...goodPost,
    message: "Could you send me your price list for next year?",
    _elapsed_ms: elapsed,
  };
  const { json } = await server.post(plain.secret, body);
  const reasons = JSON.parse(
    server.owner
      .prepare("SELECT spam_reasons FROM submission WHERE id = ?")
      .pluck()
      .get(json["submission_id"]) as string,
  ) as { signal: string; points: number }[];
  expect(reasons.find(({ signal }) => signal === "fill-time")?.points ?? null).toBe(points);
});

test("an array of __proto__ members and deep unknown values is stored without them", async () => {
  const endpoint = await server.addEndpoint({ schema: { list: { type: "array" } } });
  const { json } = await server.post(endpoint.secret, '{"list":[{"__proto__":{"x":1},"a":1}]}');
  const row = server.owner
    .prepare("SELECT data FROM submission WHERE id = ?")
    .pluck()
    .get(json["submission_id"]);
  expect(row).toBe('{"list":[{"a":1}]}');
});

test("a stored number is the double that was sent, minus zero being 0", async () => {
  const endpoint = await server.addEndpoint({ schema: { n: { type: "number" } } });
  const stored = [];
  for (const text of ["-0", "1e21", "0.1", "5e-324"]) {
    const { json } = await server.post(endpoint.secret, `{"n":${text}}`);
    stored.push(
      server.owner.prepare("SELECT data FROM submission WHERE id = ?").pluck().get(json["submission_id"]),
    );
  }
  expect(stored).toEqual(['{"n":0}', '{"n":1e+21}', '{"n":0.1}', '{"n":5e-324}']);
});
