import { afterAll, beforeAll, expect, test } from "vitest";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { listKeys } from "../../src/keys/key-store.ts";
import { FILTER_VERSION } from "../../src/spam/score-spam.ts";
import { launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { changeEndpoint } from "../support/terminal.ts";

const schema: SchemaDefinition = { name: { type: "string", required: true } };
let server: TestServer;
let form: TestEndpoint;
let other: TestEndpoint;
let ids: string[];

beforeAll(async () => {
  server = await launchServer();
  form = await server.addEndpoint({ schema });
  other = await server.addEndpoint({ schema });
  ids = [];
  for (let index = 0; index < 30; index += 1) {
    server.clock.advance(1000);
    ids.push(await submit(form, `Name ${index}`));
  }
  ids.reverse();
});
afterAll(() => server.stop());

async function submit({ secret }: TestEndpoint, name: string): Promise<string> {
  const answer = await fetch(`${server.url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
  return ((await answer.json()) as { submission_id: string }).submission_id;
}

interface Page {
  readonly data: { readonly id: string; readonly created_at: string }[];
  readonly next_cursor: string | null;
}

async function read(path: string, { key = form.secret, method = "GET", headers = {} } = {}) {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...(key !== "" && { authorization: `Bearer ${key}` }), ...headers },
  });
  const text = await answer.text();
  const body = text === "" ? null : (JSON.parse(text) as Record<string, unknown>);
  return { status: answer.status, headers: answer.headers, body, page: body as unknown as Page };
}

test("submissions come newest first, 25 a page unless asked, and pages join without gap or repeat", async () => {
  const first = await read("/submissions");
  expect(first.page.data.map(({ id }) => id)).toEqual(ids.slice(0, 25));
  const second = await read(`/submissions?cursor=${first.page.next_cursor}`);
  expect(second.page.data.map(({ id }) => id)).toEqual(ids.slice(25));
  expect(second.page.next_cursor).toBeNull();
  const all = await read("/submissions?limit=100");
  expect(all.page.data).toHaveLength(30);
  expect((await read("/submissions?limit=1")).page.data).toHaveLength(1);
});

test("one submission has the members that scripts rely on", async () => {
  const { status, body } = await read(`/submissions/${ids[0]}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    id: ids[0],
    endpoint_id: form.id,
    data: { name: "Name 29" },
    spam_score: expect.any(Number),
    spam_class: "low",
    spam_reasons: [],
    spam_version: FILTER_VERSION,
    ip_address: "127.0.0.1",
    user_agent: "node",
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    state: "open",
    assignee: null,
    notes: [],
  });
});

test("since is inclusive, until exclusive, and class filters", async () => {
  const { page } = await read("/submissions?limit=3");
  const newest = page.data[0]?.created_at ?? "";
  const [from, before] = await Promise.all([
    read(`/submissions?since=${newest}`),
    read(`/submissions?limit=100&until=${newest}`),
  ]);
  expect(from.page.data.length).toBeGreaterThanOrEqual(1);
  expect(from.page.data.every(({ created_at }) => created_at >= newest)).toBe(true);
  expect(from.page.data.length + before.page.data.length).toBe(30);
  expect((await read("/submissions?class=high")).page.data).toEqual([]);
  expect(
    (await read("/submissions?since=2000-01-01&until=2100-01-01T00:00:00%2B02:00")).page.data,
  ).toHaveLength(25);
});

test("a malformed or unknown parameter is 400 and named in details", async () => {
  const bad: [string, string][] = [
    ...["0", "101", "-1", "1.5", "x", "", "1&limit=2"].map((value): [string, string] => ["limit", value]),
    ...["x", "sub_1", "", form.id].map((value): [string, string] => ["cursor", value]),
    ...["yesterday", "2026-13-01", "1", ""].map((value): [string, string] => ["since", value]),
    ...([
      ["until", "x"],
      ["class", "blocked"],
      ["class", "LOW"],
      ["sinse", "2026-01-01"],
      ["__proto__", "1"],
      ["constructor", "1"],
    ] as [string, string][]),
  ];
  for (const [name, value] of bad) {
    const { status, body } = await read(`/submissions?${name}=${value}`);
    expect([name, value, status, body?.["error"], Object.keys(body?.["details"] as object)]).toEqual([
      name,
      value,
      400,
      "Invalid request",
      [name],
    ]);
  }
});

test("a key sees its own endpoint only: another's id is 404 for reading and deleting, like one that never was", async () => {
  const theirs = await submit(other, "Secret");
  for (const id of [theirs, "sub_00000000000000000000000000", "x", `${theirs}0`, "a".repeat(8000)]) {
    for (const method of ["GET", "DELETE"]) {
      const { status, body } = await read(`/submissions/${id}`, { method });
      expect([status, body?.["error"]]).toEqual([404, "Not found"]);
    }
  }
  expect((await read("/submissions?limit=100")).page.data.map(({ id }) => id)).not.toContain(theirs);
  expect((await read(`/submissions/${theirs}`, { key: other.secret })).status).toBe(200);
});

test("deleting answers 204 and is for good", async () => {
  const id = await submit(other, "Gone");
  const key = other.secret;
  expect(await read(`/submissions/${id}`, { key, method: "DELETE" })).toMatchObject({
    status: 204,
    body: null,
  });
  expect((await read(`/submissions/${id}`, { key })).status).toBe(404);
  expect((await read(`/submissions/${id}`, { key, method: "DELETE" })).status).toBe(404);
});

test("without a key it is 401, with a publishable key 403, whatever id is asked for", async () => {
  for (const [path, method] of [
    ["/submissions", "GET"],
    [`/submissions/${ids[0]}`, "GET"],
    [`/submissions/${ids[0]}`, "DELETE"],
    [`/submissions/${"a".repeat(101)}`, "GET"],
    [`/submissions/${"a".repeat(8000)}`, "DELETE"],
  ] as const) {
    const none = await read(path, { key: "", method });
    expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const publishable = await read(path, { key: form.publishable, method });
    expect([publishable.status, publishable.body?.["error"]]).toEqual([403, "Forbidden"]);
  }
  expect((await read(`/submissions/${ids[0]}`)).status).toBe(200);
});

test("a secret key from a browser is refused, whichever header gives it away, and its owner sees that", async () => {
  for (const headers of [{ origin: "https://site.example" }, { "sec-fetch-site": "cross-site" }]) {
    const { status, body } = await read("/submissions", { headers });
    expect([status, body?.["error"]]).toEqual([403, "Forbidden"]);
  }
  const keys = server.owner.now(() => listKeys(form.id));
  expect(keys.find(({ kind }) => kind === "secret")).toMatchObject({
    seenInBrowserAt: expect.any(Number),
  });
});

test("a paused endpoint takes no posts but can be read", async () => {
  server.owner.now(() => changeEndpoint(other.id, { state: "paused" }));
  await expect.poll(async () => submit(other, "Late")).toBeUndefined();
  expect((await read("/submissions", { key: other.secret })).status).toBe(200);
});
