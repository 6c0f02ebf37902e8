import { expect, test } from "vitest";
import type { Scope } from "../../src/operations/access.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { type Ask, askWith, makeToken } from "../support/api-client.ts";
import { addSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { goodPost, startServer } from "../support/test-server.ts";

interface Shown {
  readonly endpoint: { readonly id: string; readonly name: string; readonly state: string };
}

async function world(scopes?: readonly Scope[]) {
  const server = await startServer();
  const form = await server.addEndpoint();
  const ask = askWith(server, await makeToken(server, scopes));
  const audit = (): unknown[] =>
    server.owner
      .prepare("SELECT action FROM audit_event WHERE token_id IS NOT NULL ORDER BY id")
      .pluck()
      .all();
  return { server, form, ask, audit };
}

test("an endpoint is made, read, listed, changed, paused and deleted with the JSON of the command line", async () => {
  const { server, ask, audit } = await world();
  const made = await ask("POST", "/endpoints", { body: { name: "Shop", schema: exampleSchema } });
  expect(made.status).toBe(201);
  expect(made.json).toEqual({
    endpoint: {
      id: expect.stringMatching(/^ep_/) as string,
      name: "Shop",
      workspace_id: expect.stringMatching(/^ws_/) as string,
      schema: exampleSchema,
      created_at: expect.any(String) as string,
    },
    keys: {
      secret: expect.stringMatching(/^fsk_/) as string,
      publishable: expect.stringMatching(/^fpk_/) as string,
    },
  });
  const { id } = (made.json as unknown as Shown).endpoint;
  expect(made.headers["location"]).toBe(`/api/v1/endpoints/${id}`);
  expect(made.headers["cache-control"]).toBe("no-store");
  const path = `/endpoints/${id}`;
  const named = await ask("GET", "/endpoints", { query: "name=Shop" });
  expect((named.json as { data: { id: string }[] }).data.map((each) => each.id)).toEqual([id]);
  const changed = await ask("PATCH", path, { body: { name: "Store", success_url: "https://a.example/ok" } });
  expect([changed.status, changed.json]).toMatchObject([200, { endpoint: { id, name: "Store" } }]);
  expect((await ask("POST", `${path}/pause`)).json).toMatchObject({ endpoint: { state: "paused" } });
  const schema = { email: { type: "string", format: "email" } };
  expect((await ask("PUT", `${path}/schema`, { body: { schema } })).json).toEqual({
    endpoint_id: id,
    schema_version: 2,
  });
  expect((await ask("GET", `${path}/schema`)).json).toEqual(schema);
  const gone = await ask("DELETE", path);
  expect([gone.status, gone.text]).toEqual([204, ""]);
  expect((await ask("DELETE", path)).status).toBe(404);
  expect(audit()).toEqual([
    "endpoint.create",
    "endpoint.set",
    "endpoint.pause",
    "schema.set",
    "endpoint.delete",
  ]);
  expect(server.log.join("")).not.toContain("fat_");
});

test("a new schema says which recipients and automatic replies lose their field by it, to who may see recipients", async () => {
  const { server, form, ask } = await world();
  const path = `/endpoints/${form.id}`;
  const email = { type: "string", format: "email" };
  const topic = { type: "string" };
  const put = async (schema: object, by = ask) =>
    (await by("PUT", `${path}/schema`, { body: { schema } })).json;
  await put({ email, topic, other: topic });
  const conditions = ["topic", "other"].map((field) => ({ field, is: "filled", value: "" }));
  const hook = { endpoint: form.id, url: "https://example.com/hook", conditions };
  const { webhook } = (await ask("POST", "/webhooks", { body: hook })).json as unknown as {
    webhook: { id: string };
  };
  await ask("PUT", `${path}/autoreply`, { body: { text: "Thanks." } });
  expect(await put({ email, topic, more: topic })).toMatchObject({
    lost_fields: [{ recipient_id: webhook.id, kind: "webhook", fields: ["other"] }],
  });
  // A field that is gone already is not lost again.
  expect(await put({ email, topic })).not.toHaveProperty("lost_fields");
  const few = askWith(server, await makeToken(server, ["endpoints:write", "endpoints:read"]));
  expect(await put({ email }, few)).not.toHaveProperty("lost_fields");
  await put({ email, topic });
  expect(await put({ email: topic })).toMatchObject({
    lost_fields: [
      { recipient_id: expect.stringMatching(/^rcpt_/) as string, kind: "autoreply", fields: ["email"] },
      { recipient_id: webhook.id, kind: "webhook", fields: ["topic"] },
    ],
  });
});

test("a stale ETag stops a change, a fresh one lets it through, and counters do not change it", async () => {
  const { server, form, ask } = await world();
  const path = `/endpoints/${form.id}`;
  const read = await ask("GET", path);
  const tag = read.headers["etag"] ?? "";
  expect(tag).toMatch(/^"[\w-]{27}"$/);
  server.owner.execute(
    `INSERT INTO refused_origin VALUES ('${form.id}', 'https://b.example', 7, ${server.clock.now()}, 0)`,
  );
  expect((await ask("GET", path)).headers["etag"]).toBe(tag);
  const unchanged = await ask("GET", path, { headers: { "if-none-match": tag } });
  expect([unchanged.status, unchanged.text]).toEqual([304, ""]);
  const change = (ifMatch: string, name: string) =>
    ask("PATCH", path, { body: { name }, headers: { "if-match": ifMatch } });
  expect((await change(tag, "First")).status).toBe(200);
  const stale = await change(tag, "Second");
  expect([stale.status, stale.json]).toMatchObject([
    412,
    { error: "Precondition failed", code: "precondition_failed" },
  ]);
  expect((await ask("DELETE", path, { headers: { "if-match": tag } })).status).toBe(412);
  const fresh = await ask("GET", path);
  expect((fresh.json as unknown as Shown).endpoint.name).toBe("First");
  expect((await change(fresh.headers["etag"] ?? "", "Second")).status).toBe(200);
  expect((await change(`W/${tag}, "other"`, "Third")).status).toBe(412);
  expect((await change("*", "Third")).status).toBe(200);
});

test("refusals come in one order: no token, no scope, not there, wrong input", async () => {
  const { server, form } = await world();
  const without = askWith(server, null);
  const reader = askWith(server, await makeToken(server, ["endpoints:read"]));
  const writer = askWith(server, await makeToken(server, ["endpoints:write"]));
  const nowhere = "/endpoints/ep_01h455vb4pex5vsknk084sn02q";
  const wrong = { body: { surely: 1 } };
  expect((await without("PATCH", nowhere, wrong)).status).toBe(401);
  expect((await reader("PATCH", nowhere, wrong)).status).toBe(403);
  expect((await writer("PATCH", nowhere, wrong)).status).toBe(404);
  expect((await writer("PATCH", nowhere, { body: "{" })).status).toBe(404);
  expect((await writer("PATCH", nowhere, { query: "dry_run=true", body: {} })).status).toBe(404);
  const refused = await writer("PATCH", `/endpoints/${form.id}`, wrong);
  expect([refused.status, refused.json]).toEqual([
    400,
    {
      error: "Invalid request",
      message: "the input is wrong: surely: unknown member",
      details: { surely: "unknown member" },
      code: "invalid_request",
    },
  ]);
  // The size is not looked at before the scope, nor before what the address names.
  const large = "x".repeat(1_048_576);
  expect((await reader("PATCH", nowhere, { body: large })).status).toBe(403);
  expect((await writer("PATCH", nowhere, { body: large })).status).toBe(404);
  expect((await writer("PATCH", `/endpoints/${form.id}`, { body: large })).status).toBe(413);
});

type Wrong = [method: string, path: string, request: Parameters<Ask>[2], status: number, code: string];

test.each<Wrong>([
  ["GET", "/endpoints", { query: "surely=1" }, 400, "invalid_request"],
  ["GET", "/endpoints", { query: "limit=0" }, 400, "invalid_request"],
  ["GET", "/endpoints", { query: "limit=101" }, 400, "invalid_request"],
  ["GET", "/endpoints", { query: "limit=10&limit=20" }, 400, "invalid_request"],
  ["GET", "/endpoints", { query: "name=a&name=b" }, 400, "invalid_request"],
  ["GET", "/endpoints", { query: "dry_run=true" }, 400, "invalid_request"],
  ["GET", "/endpoints", { query: "__proto__=1" }, 400, "invalid_request"],
  ["GET", "/endpoints", { query: "cursor=nonsense" }, 400, "invalid_request"],
  ["GET", "/workspaces/WS/usage", { query: "month=2026-13" }, 400, "invalid_request"],
  ["POST", "/endpoints", { body: "[]" }, 400, "invalid_json"],
  ["POST", "/endpoints", { body: Buffer.from([0x7b, 0xff, 0x7d]) }, 400, "invalid_json"],
  ["POST", "/endpoints", { body: '{"a":'.repeat(40) + "1" + "}".repeat(40) }, 400, "invalid_json"],
  ["POST", "/endpoints", { body: { name: 7, schema: {} } }, 400, "invalid_request"],
  [
    "POST",
    "/webhooks",
    { body: '{"endpoint": "EP", "url": "https://192.0.2.1/", "headers": {"__proto__": "x"}}' },
    400,
    "invalid_request",
  ],
  ["POST", "/endpoints", { body: { name: "x" } }, 400, "invalid_request"],
  ["POST", "/endpoints", { body: { name: "x", schema: { a: { type: "text" } } } }, 400, "schema_invalid"],
  ["POST", "/endpoints", { body: { name: "", schema: exampleSchema } }, 400, "usage"],
  [
    "POST",
    "/endpoints",
    { query: "dry_run=true", body: { name: "x", schema: exampleSchema } },
    400,
    "invalid_request",
  ],
  ["POST", "/endpoints", { query: "name=x", body: { schema: exampleSchema } }, 400, "invalid_request"],
  [
    "POST",
    "/endpoints",
    { body: "x=1", headers: { "content-type": "text/plain" } },
    415,
    "unsupported_media_type",
  ],
  ["PATCH", "/endpoints/EP", { body: { endpoint: "other", name: "x" } }, 400, "invalid_request"],
  ["PATCH", "/endpoints/EP", { body: { allowed_origins: "https://a.example" } }, 400, "invalid_request"],
  ["PUT", "/endpoints/EP", { body: {} }, 405, "method_not_allowed"],
  ["GET", "/nothing", {}, 404, "not_found"],
  ["POST", "/endpoints", { body: {}, headers: { "idempotency-key": "a b" } }, 400, "invalid_request"],
])(
  "%s %s with wrong input (%j) is answered %i %s, and nothing is changed",
  async (...[method, path, request, status, code]) => {
    const { server, form, ask, audit } = await world();
    const asked = path.replace("EP", form.id).replace("WS", form.workspaceId);
    const answer = await ask(method, asked, request);
    expect(answer.status).toBe(status);
    if (status !== 200) {
      const body = answer.json;
      expect(body).toMatchObject({
        code,
        error: expect.any(String) as string,
        message: expect.any(String) as string,
      });
    }
    expect(audit()).toEqual([]);
    expect(server.owner.prepare("SELECT count(*) FROM endpoint").pluck().get()).toBe(1);
  },
);

test("a list comes in pages whose cursors belong to it alone", async () => {
  const { server, ask } = await world();
  for (let made = 0; made < 4; made += 1) await server.addEndpoint();
  const page = async (query: string) =>
    (await ask("GET", "/endpoints", { query })).json as {
      data: { id: string }[];
      next_cursor: string | null;
    };
  const all = (await page("")).data.map(({ id }) => id);
  expect(all).toHaveLength(5);
  const first = await page("limit=2");
  const second = await page(`limit=2&cursor=${first.next_cursor}`);
  // A row that goes moves no page.
  await ask("DELETE", `/endpoints/${all[3]}`);
  const third = await page(`limit=2&cursor=${second.next_cursor}`);
  expect([first, second, third].flatMap(({ data }) => data.map(({ id }) => id))).toEqual(all);
  expect(third.next_cursor).toBeNull();
  for (const [path, query] of [
    ["/workspaces", `cursor=${first.next_cursor}`],
    ["/endpoints", `name=Contact&cursor=${first.next_cursor}`],
    ["/endpoints", `cursor=${first.next_cursor}x`],
  ] as const) {
    const refused = await ask("GET", path, { query });
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { details: { cursor: expect.any(String) as string } },
    ]);
  }
});

test("long work tells its steps as lines of JSON, and what is refused before the first keeps its status", async () => {
  const { form, server, ask } = await world();
  await server.post(form.secret, { name: "Ana", email: "ana@example.org", message: "Hello, are you open?" });
  const headers = { accept: "application/x-ndjson" };
  expect((await ask("DELETE", "/endpoints/ep_01h455vb4pex5vsknk084sn02q", { headers })).status).toBe(404);
  const answer = await ask("DELETE", `/endpoints/${form.id}`, { headers });
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
  const lines = answer.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines[0]).toEqual({ done: 1, total: null });
  expect(lines.at(-1)).toMatchObject({ output: { endpoint: { id: form.id } } });
  expect((await ask("GET", `/endpoints/${form.id}`)).status).toBe(404);
});

test("an archive that fails before its first byte is answered with its error, and not with one of the server", async () => {
  const { server, ask, form } = await world();
  const { id } = await server.addEndpoint();
  server.owner.execute("UPDATE endpoint SET name = 'Twice'");
  const { json } = await ask("GET", `/endpoints/${form.id}`);
  const workspace = (json["endpoint"] as { workspace_id: string }).workspace_id;
  const answer = await ask("GET", `/workspaces/${workspace}/export`);
  expect(answer).toMatchObject({ status: 400, json: { code: "ambiguous" } });
  expect(answer.json["message"]).toContain(id);
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
});

test("submissions are listed, followed, exported, marked and deleted, at most 100 at once and all or none", async () => {
  const { server, form, ask } = await world();
  for (let posted = 0; posted < 2; posted += 1) await server.post(form.secret, goodPost);
  const ids = ((await ask("GET", "/submissions")).json as { data: { id: string }[] }).data.map(
    ({ id }) => id,
  );
  expect(ids).toHaveLength(2);
  expect((await ask("GET", `/submissions/${ids[0]}`)).json).toMatchObject({ id: ids[0], data: goodPost });
  const tail = await ask("GET", "/submissions/tail");
  const lines = tail.text.trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(ids.toReversed());
  const csv = await ask("GET", "/submissions/export", { query: "format=csv" });
  expect([csv.headers["content-type"], csv.text.split("\r\n")]).toEqual([
    "text/csv; charset=utf-8",
    expect.objectContaining({ length: 4 }),
  ]);
  const nobody = "sub_01h455vb4pex5vsknk084sn02q";
  const half = await ask("POST", "/submissions/delete", { body: { submissions: [ids[0], nobody] } });
  expect(half.status).toBe(404);
  const many = await ask("POST", "/submissions/delete", { body: { submissions: Array(101).fill(nobody) } });
  expect([many.status, many.json["code"]]).toEqual([400, "invalid_request"]);
  expect(server.stored()).toHaveLength(2);
  const body = { submissions: ids };
  expect((await ask("POST", "/submissions/delete", { body })).json).toEqual({ deleted: ids });
  expect((await ask("GET", "/submissions")).json["data"]).toEqual([]);
  const binned = await ask("GET", "/submissions", { query: "deleted=true" });
  expect((binned.json["data"] as { id: string }[]).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect((await ask("POST", "/submissions/undelete", { body })).json).toEqual({ undeleted: ids });
  const final = await ask("POST", "/submissions/delete", { body: { ...body, now: true } });
  expect([final.json, server.stored()]).toEqual([{ deleted: ids }, []]);
});

test("state, assignee and notes are set, listed and told over the API", async () => {
  const { server, form, ask } = await world();
  const ids = [1, 2].map(() => addSubmission(server.owner, { endpointId: form.id, createdAt: NOON }));
  const [first = "", second = ""] = ids;
  const email = server.owner.prepare("SELECT email FROM account").pluck().get();
  const set = await ask("POST", "/submissions/set", {
    body: { submissions: [first], state: "done", assignee: email },
  });
  expect(set.json).toMatchObject({ set: [first], state: "done", assignee: { email } });
  const noted = await ask("POST", `/submissions/${first}/notes`, { body: { text: "called back" } });
  expect([noted.status, noted.json]).toMatchObject([201, { note: { text: "called back", by: email } }]);
  const done = await ask("GET", "/submissions", { query: `state=done&assignee=${String(email)}` });
  expect(done.json["data"]).toMatchObject([{ id: first, state: "done", notes: [{ text: "called back" }] }]);
  const open = await ask("GET", "/submissions", { query: "state=open" });
  expect(open.json["data"]).toMatchObject([{ id: second, state: "open", assignee: null, notes: [] }]);
  for (const query of ["state=shut", "deleted=perhaps"])
    expect((await ask("GET", "/submissions", { query })).status).toBe(400);
  const events = await ask("GET", "/events");
  expect((events.json["data"] as { type: string }[]).map(({ type }) => type)).toEqual(
    expect.arrayContaining(["submission.set", "submission.note"]),
  );
});

test("without api.enabled there is nothing at its addresses", async () => {
  const server = await startServer({ api: { enabled: false } });
  await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  expect((await ask("GET", "/endpoints")).status).toBe(404);
  expect((await ask("GET", "/openapi.json")).status).toBe(404);
});

test("a browser that asks for the server's bare address is led to the dashboard, not to the API", async () => {
  const server = await startServer();
  const front = await server.request({ method: "GET", path: "/", headers: { accept: "text/html" } });
  expect([front.status, front.headers["location"]]).toEqual([303, "/dashboard"]);
});
