import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_REPORT_BYTES } from "../../src/schemas/issue-report.ts";
import type { Answer } from "../support/http-client.ts";
import { goodPost, launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

/** Every answer that repeats something of its request; pages that ask a form again have tests of their own. */

const MAX_HEADER_BYTES = 16_384;
/** Room for a header of that size beside the request's other ones. */
const LONG = MAX_HEADER_BYTES - 1000;
const BODY_BYTES = 65_536;
/** Of a page or an error that repeats nothing. */
const PLAIN_BYTES = 6000;

let server: TestServer;
let contact: TestEndpoint;
let strict: TestEndpoint;

beforeAll(async () => {
  server = await launchServer();
  contact = await server.addEndpoint();
  const settings = {
    unknownFields: "reject",
    allowedOrigins: ["https://*.site.example", "https://site.example"],
  } as const;
  strict = await server.addEndpoint({ settings });
});
afterAll(() => server.stop());

const bearer = ({ secret }: TestEndpoint) => ({ authorization: `Bearer ${secret}` });

/** Bytes of the body, and of all headers together. */
function sizeOf({ text, headers }: Answer): number {
  return Buffer.byteLength(text) + Buffer.byteLength(Object.entries(headers).flat().join());
}

function sendForm(form: TestEndpoint, body: string, headers: Record<string, string>): Promise<Answer> {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return server.request({
    method: "POST",
    path: `/f/${form.publishable}`,
    headers: { ...type, ...headers },
    body,
  });
}

test("details of a post stay within 32 KiB, five times the schema and the body", async () => {
  const names = Array.from({ length: 250 }, (_, index) => `Country number ${index}`);
  const schema = { to: { type: "array", items: { type: "string", enum: names } } } as const;
  const form = await server.addEndpoint({ schema });
  const body = JSON.stringify({ to: Array(15_000).fill("x") });
  const answer = await server.post(form.secret, body);
  expect(answer.status).toBe(400);
  expect(sizeOf(answer)).toBeLessThan(MAX_REPORT_BYTES + 5 * JSON.stringify(schema).length + PLAIN_BYTES);

  const unknown = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`${index}`.padEnd(300, "é"), 1]),
  );
  const rejected = await server.post(strict.secret, unknown);
  expect(rejected.status).toBe(400);
  expect(sizeOf(rejected)).toBeLessThan(MAX_REPORT_BYTES + PLAIN_BYTES);
});

test("details of a form that asks for JSON take six bytes at most for each of the body", async () => {
  const schema = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`f${index}`, { type: "string" as const, enum: ["a"] }]),
  );
  const form = await server.addEndpoint({ schema });
  const body = Object.keys(schema)
    .map((name) => `${name}=${"\u0001".repeat(640)}`)
    .join("&");
  const answer = await sendForm(form, body, { accept: "application/json" });
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.json["details"] as object)).toHaveLength(100);
  const bound = MAX_REPORT_BYTES + 5 * JSON.stringify(schema).length + 6 * body.length;
  expect(sizeOf(answer)).toBeLessThan(bound);
});

test("a body that is too large, no JSON, of another type or malformed is not repeated", async () => {
  const long = "x".repeat(BODY_BYTES);
  const answers = [
    await server.post(contact.secret, `{"${long}":1}`),
    await server.post(contact.secret, long.slice(1)),
    await server.post(contact.secret, "{}", { "content-type": `text/${"x".repeat(LONG)}` }),
    await server.post(contact.secret, goodPost, { "idempotency-key": "x".repeat(LONG) }),
    await server.post(contact.secret, goodPost, { "x-submitter-ip": "x".repeat(LONG) }),
    await server.post(`fsk_${"x".repeat(LONG)}`, goodPost),
    await sendForm(contact, "a=1&".repeat(5000), { accept: "application/json" }),
    await sendForm(contact, "x", { "content-type": `multipart/form-data; boundary=${"x".repeat(LONG)}` }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([413, 400, 415, 400, 400, 401, 400, 400]);
  for (const answer of answers) expect(sizeOf(answer)).toBeLessThan(PLAIN_BYTES);
});

test("an unknown address, method, submission or query is repeated shortened or not at all", async () => {
  const headers = bearer(contact);
  const quotes = "%22".repeat(LONG / 3);
  const answers = [
    await server.request({ method: "GET", path: `/${quotes}` }),
    await server.request({ method: "PUT", path: `/f/${quotes}` }),
    await server.request({
      method: "POST",
      path: `/f/${quotes}`,
      headers: { "content-type": "multipart/form-data" },
    }),
    await server.request({ method: "GET", path: `/submissions/${quotes}`, headers }),
    await server.request({ method: "DELETE", path: `/submissions/${quotes}`, headers }),
    await server.request({ method: "GET", path: `/submissions?cursor=${quotes}`, headers }),
    await server.request({ method: "GET", path: `/submissions?class=${quotes}`, headers }),
    await server.request({ method: "GET", path: `/submissions?${quotes}`, headers }),
    await server.request({
      method: "GET",
      path: `/submissions?${Array.from({ length: 3000 }, (_, index) => index.toString(36)).join("&")}`,
      headers,
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 405, 401, 404, 404, 400, 400, 400, 400]);
  for (const answer of answers) expect(sizeOf(answer)).toBeLessThan(PLAIN_BYTES);
});

test("a request's id, origin and _redirect are repeated only while they are as short as real ones", async () => {
  const id = await server.request({
    method: "GET",
    path: "/healthz",
    headers: { "x-request-id": "x".repeat(LONG) },
  });
  expect(id.headers["x-request-id"]?.length).toBeLessThan(64);

  const body = "name=Ana&email=ana%40example.org";
  const near = `https://${"a".repeat(200)}.site.example`;
  const far = `https://${"a".repeat(LONG)}.site.example`;
  expect((await sendForm(strict, body, { origin: near })).headers["access-control-allow-origin"]).toBe(near);
  const refused = await sendForm(strict, body, { origin: far });
  expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([403, "*"]);
  const answers = [
    refused,
    await sendForm(contact, body, { origin: far }),
    await sendForm(contact, "name=", { origin: far }),
  ];
  for (const path of ["x", "é", "%22"]) {
    const redirect = `${body}&_redirect=%2F${path.repeat(1999 / path.length)}`;
    const answer = await sendForm(strict, redirect, { origin: near });
    answers.push(answer);
    expect(answer.headers["location"]?.length ?? 0).toBeLessThanOrEqual(2000);
  }
  for (const answer of answers) expect(sizeOf(answer)).toBeLessThan(PLAIN_BYTES);
});

test("a page of submissions ends before 1 MiB of JSON, and pages join without gap or repeat", async () => {
  const form = await server.addEndpoint({ settings: { unknownFields: "keep" } });
  const text = "Words of no weight. ".repeat(3000);
  for (let index = 0; index < 20; index += 1) {
    expect((await server.post(form.secret, { ...goodPost, index, text: `${index} ${text}` })).status).toBe(
      200,
    );
  }
  const seen: unknown[] = [];
  let pages = 0;
  for (let cursor = ""; pages === 0 || cursor !== ""; pages += 1) {
    const query = cursor === "" ? "" : `&cursor=${cursor}`;
    const page = await server.request({
      method: "GET",
      path: `/submissions?limit=100${query}`,
      headers: bearer(form),
    });
    expect(sizeOf(page)).toBeLessThan(1_048_576 + PLAIN_BYTES);
    seen.push(...(page.json["data"] as { data: { index: number } }[]).map(({ data }) => data.index));
    cursor = (page.json["next_cursor"] as string | null) ?? "";
  }
  expect(pages).toBe(2);
  expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => 19 - index));
});

test("a submission that is larger than a page of JSON is a page of its own", async () => {
  const large = await launchServer({ server: { bodyLimitBytes: 2_097_152 } });
  try {
    const form = await large.addEndpoint({ settings: { unknownFields: "keep" } });
    const text = "Words of no weight. ".repeat(60_000);
    for (const index of [1, 2]) await large.post(form.secret, { ...goodPost, text: `${index} ${text}` });
    const page = await large.request({ method: "GET", path: "/submissions", headers: bearer(form) });
    expect(page.json["data"]).toHaveLength(1);
    const cursor = String(page.json["next_cursor"]);
    const next = await large.request({
      method: "GET",
      path: `/submissions?cursor=${cursor}`,
      headers: bearer(form),
    });
    expect(next.json).toMatchObject({ data: [{}], next_cursor: null });
  } finally {
    await large.stop();
  }
});
