import { describe, expect, test } from "vitest";
import { SCOPES } from "../../src/operations/access.ts";
import { insertWorkspaceRow } from "../../src/workspaces/workspace-store.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { connectAgent, insideOf } from "../support/agent.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";

const READ_TOOLS = [
  "list_endpoints",
  "get_endpoint",
  "search_submissions",
  "get_submission",
  "explain_spam_score",
  "list_held",
  "list_webhooks",
  "list_deliveries",
  "get_usage",
  "get_findings",
  "check_schema",
  "get_snippet",
];

/** What a token of one form may have. */
const BOUND = SCOPES.filter((scope) => scope !== "operator");

const PITCH = { ...goodPost, message: "Do you write about SEO and backlinks? I would like to." };

function serve(allow: ("triage" | "replay")[] = []): Promise<TestServer> {
  return startServer({ mcp: { enabled: true, allow } });
}

describe.each([
  ["2026-07-28", false],
  ["2025", true],
] as const)("a client of the protocol of %s", (_name, isOld) => {
  test("lists the tools, reads what was sent inside a boundary, and is told what a form looks like", async () => {
    const server = await serve();
    const endpoint = await server.addEndpoint();
    await server.post(endpoint.secret, goodPost);
    const agent = await connectAgent(server.url, await makeToken(server), isOld);
    expect(await agent.tools()).toEqual(READ_TOOLS);
    const listed = await agent.call("list_endpoints");
    expect(listed.said).toMatchObject({ endpoints: [{ id: endpoint.id, name: "Contact" }] });
    expect(listed.untrusted).toBe("");
    const found = await agent.call("search_submissions", { search: "Sunday" });
    const [submission] = found.said["submissions"] as [{ id: string }];
    expect(JSON.stringify(found.said)).not.toContain("Ruiz");
    expect(insideOf(found)).toMatchObject([{ id: submission.id, content: { data: goodPost } }]);
    const shown = await agent.call("get_submission", { id: submission.id });
    expect(insideOf(shown)).toMatchObject([{ content: { data: goodPost, ip_address: "127.0.0.1" } }]);
    expect(shown.untrusted.split("\n")[1]).not.toBe(found.untrusted.split("\n")[1]);
    const snippet = await agent.call("get_snippet", { endpoint: "Contact" });
    expect(snippet.said["html"]).toContain("/f/YOUR_PUBLISHABLE_KEY");
    expect((await agent.call("check_schema", { schema: { a: { type: "text" } } })).said).toMatchObject({
      valid: false,
      problems: [{ path: "a.type" }],
    });
    expect((await agent.call("check_schema", { schema: { a: { type: "string" } } })).said["valid"]).toBe(
      true,
    );
    expect((await agent.call("get_usage")).said).toMatchObject({ usage: [{ used: 1 }] });
    expect((await agent.call("explain_spam_score", { id: submission.id })).said).toMatchObject({
      class: "low",
    });
    expect((await agent.call("list_webhooks")).said).toEqual({ webhooks: [], next_cursor: null });
    expect((await agent.call("list_deliveries")).said).toMatchObject({ deliveries: [] });
    expect((await agent.call("get_endpoint", { endpoint: endpoint.id })).said).toMatchObject({
      endpoint: { schema: {} },
    });
    expect((await agent.call("get_findings")).said).toHaveProperty("checks");
  });
});

test("a tool that changes something is there only if its group is allowed and the token may do it", async () => {
  const writes = async (allow: ("triage" | "replay")[], scopes: Parameters<typeof makeToken>[1]) => {
    const server = await serve(allow);
    await server.addEndpoint();
    const agent = await connectAgent(server.url, await makeToken(server, scopes));
    const names = (await agent.tools()).filter((name) => !READ_TOOLS.includes(name));
    const refused = agent.call("mark_submissions", { ids: ["sub_1"], mark: "spam" });
    if (!names.includes("mark_submissions")) await expect(refused).rejects.toThrow(/not found/);
    else expect((await refused).said["code"]).toBe("not_found");
    return names;
  };
  expect(await writes([], SCOPES)).toEqual([]);
  expect(await writes(["triage", "replay"], SCOPES)).toEqual([
    "mark_submissions",
    "release_held",
    "replay_delivery",
  ]);
  expect(await writes(["triage"], ["submissions:write"])).toEqual(["mark_submissions", "release_held"]);
  expect(await writes(["triage", "replay"], ["submissions:read", "recipients:read"])).toEqual([]);
  expect(await writes(["triage", "replay"], ["recipients:write"])).toEqual(["replay_delivery"]);
});

test("an agent marks and releases, and the page of changes has each call with tool, token and ids, and no content", async () => {
  const server = await serve(["triage"]);
  const { secret } = await server.addEndpoint();
  await server.post(secret, { ...goodPost, _gotcha: "x" });
  const agent = await connectAgent(server.url, await makeToken(server));
  const held = await agent.call("list_held");
  const [post] = held.said["held"] as [{ id: string }];
  expect([held.said["hidden"], held.untrusted]).toEqual([1, ""]);
  expect(insideOf(await agent.call("list_held", { include_suspected: true }))).toMatchObject([
    { id: post.id },
  ]);
  const released = await agent.call("release_held", { ids: [post.id] });
  const [{ submission }] = released.said["released"] as [{ submission: string }];
  expect((await agent.call("mark_submissions", { ids: [submission], mark: "ham" })).said).toEqual({
    marked: [submission],
    mark: "ham",
  });
  const rows = server.owner
    .prepare("SELECT detail, subject, token_name FROM audit_event WHERE action = 'mcp.called' ORDER BY id")
    .all();
  expect(rows).toEqual([
    { detail: "list_held (2 calls)", subject: post.id, token_name: "test" },
    { detail: "release_held", subject: post.id, token_name: "test" },
    { detail: "mark_submissions", subject: submission, token_name: "test" },
  ]);
  const actions = server.owner.prepare("SELECT action FROM audit_event ORDER BY id").pluck().all();
  expect(actions).toContain("held.release");
  expect(actions).toContain("submission.mark");
});

test("what looks like spam is shown only if it is asked for", async () => {
  const server = await serve();
  const { secret } = await server.addEndpoint();
  for (const body of [PITCH, goodPost]) expect((await server.post(secret, body)).status).toBe(200);
  server.owner.execute("UPDATE submission SET spam_score = 60 WHERE data LIKE '%SEO%'");
  const ids = server.owner
    .prepare("SELECT id FROM submission WHERE data LIKE '%SEO%'")
    .pluck()
    .all() as string[];
  expect(ids).toHaveLength(1);
  const agent = await connectAgent(server.url, await makeToken(server));
  const search = async (input: object) => (await agent.call("search_submissions", { ...input })).untrusted;
  expect(await search({})).not.toContain("backlinks");
  for (const id of ids) {
    expect(await search({ include_suspected: true })).toContain("backlinks");
    const refused = await agent.call("get_submission", { id });
    expect([refused.isError, refused.said["code"], refused.untrusted]).toEqual([true, "forbidden", ""]);
    expect((await agent.call("get_submission", { id, include_suspected: true })).untrusted).toContain(
      "backlinks",
    );
  }
});

test("somebody else's id is like none, and a token of one form sees that form alone", async () => {
  const server = await serve(["triage"]);
  const mine = await server.addEndpoint();
  const other = await server.addEndpoint({ plan: "pro" });
  await server.post(other.secret, goodPost);
  const theirs = server.owner.prepare("SELECT id FROM submission").pluck().get() as string;
  const agent = await connectAgent(server.url, await makeToken(server, BOUND, { endpoint: mine.id }));
  for (const [name, input] of [
    ["get_submission", { id: theirs }],
    ["get_submission", { id: "sub_00000000000000000000000000" }],
    ["mark_submissions", { ids: [theirs], mark: "spam" }],
    ["get_endpoint", { endpoint: other.id }],
    ["search_submissions", { endpoint: other.id }],
    ["explain_spam_score", { id: theirs }],
  ] as const)
    expect((await agent.call(name, input)).said["code"], name).toBe("not_found");
  expect((await agent.call("search_submissions")).said["submissions"]).toEqual([]);
  expect((await agent.call("list_endpoints")).said["endpoints"]).toMatchObject([{ id: mine.id }]);
});

describe("the address of agents", () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

  test("is not there unless it is enabled", async () => {
    const server = await startServer();
    expect((await server.request({ method: "POST", path: "/mcp", headers, body })).status).toBe(404);
  });

  test.each([
    ["no token", {}, 401],
    ["a wrong token", { authorization: `Bearer fat_${"a".repeat(50)}` }, 401],
    ["the name of another machine", { host: "evil.example:80" }, 403],
    ["the page of another site", { origin: "https://evil.example" }, 403],
    ["a page without an address", { origin: "null" }, 403],
  ])("refuses %s", async (_name, more, status) => {
    const server = await serve();
    await server.addEndpoint();
    const authorization = `Bearer ${await makeToken(server)}`;
    const given = status === 403 ? { authorization, ...more } : more;
    const answer = await server.request({
      method: "POST",
      path: "/mcp",
      headers: { ...headers, ...given },
      body,
    });
    expect(answer.status).toBe(status);
  });

  test("takes the server's own address, and refuses a token that was revoked", async () => {
    const server = await startServer({
      mcp: { enabled: true },
      server: { baseUrl: "https://forms.example.com" },
    });
    await server.addEndpoint();
    const token = await makeToken(server);
    const authorization = `Bearer ${token}`;
    const ask = (more: object) =>
      server.request({ method: "POST", path: "/mcp", headers: { ...headers, authorization, ...more }, body });
    const own = { host: "forms.example.com", origin: "https://forms.example.com" };
    expect((await ask(own)).status).toBe(200);
    expect((await ask({ ...own, origin: "http://forms.example.com" })).status).toBe(403);
    await askWith(server, token)("DELETE", "/token");
    expect((await ask(own)).status).toBe(401);
  });

  test("answers a stream that would not end, other methods and broken JSON at once, and goes on", async () => {
    const server = await serve();
    await server.addEndpoint();
    const token = await makeToken(server);
    const ask = (method: string, text?: string) =>
      server.request({
        method,
        path: "/mcp",
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(text !== undefined && { body: text }),
      });
    expect((await ask("GET")).status).toBe(405);
    expect((await ask("POST", "{")).status).toBe(400);
    expect((await ask("POST", "[]")).status).toBe(400);
    const agent = await connectAgent(server.url, token);
    expect(await agent.tools()).toEqual(READ_TOOLS);
  });
});

test.each([
  ["search_submissions", { limit: 51 }],
  ["search_submissions", { webhook: "https://evil.example" }],
  ["mark_submissions", { ids: Array.from({ length: 51 }, () => "sub_1"), mark: "spam" }],
  ["release_held", { ids: Array.from({ length: 11 }, () => "held_1") }],
  ["get_submission", {}],
])("%s refuses %j", async (name, input) => {
  const server = await serve(["triage"]);
  await server.addEndpoint();
  const agent = await connectAgent(server.url, await makeToken(server));
  const { isError, said } = await agent.call(name, input);
  expect([isError, said["code"]]).toEqual([true, "invalid_request"]);
  expect(
    server.owner.prepare("SELECT count(*) FROM audit_event WHERE action = 'mcp.called'").pluck().get(),
  ).toBe(1);
});

test("calls that come in one request count each, and are refused before the first if they are too many", async () => {
  const server = await startServer({
    mcp: { enabled: true },
    rateLimit: { token: { max: 5, windowSeconds: 3600 } },
  });
  await server.addEndpoint();
  const token = await makeToken(server);
  const send = (count: number) => {
    const params = { name: "list_endpoints", arguments: {} };
    const calls = Array.from({ length: count }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params,
    }));
    return server.request({
      method: "POST",
      path: "/mcp",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(calls),
    });
  };
  const answered = await send(3);
  expect([answered.status, answered.headers["ratelimit-remaining"]]).toEqual([200, "2"]);
  expect(answered.text.match(/"result"/g)).toHaveLength(3);
  const refused = await send(3);
  expect([refused.status, refused.json]).toMatchObject([429, { code: "rate_limited" }]);
  expect(refused.text).not.toContain("Contact");
});

test("an agent is shown all forms, webhooks and workspaces of a large server, in pages of 50 at most", async () => {
  const server = await serve();
  const { id: endpoint } = await server.addEndpoint();
  const { id: other } = await server.addEndpoint();
  for (let count = 0; count < 59; count += 1) await server.addEndpoint();
  await server.owner.transaction(function* () {
    for (const each of [endpoint, other]) yield* addWebhooks(each, "https://192.0.2.1/hook", 26);
    for (let count = 0; count < 51; count += 1)
      yield* insertWorkspaceRow(`Client ${count}`, null, server.clock.now());
  });
  const agent = await connectAgent(server.url, await makeToken(server, SCOPES));
  for (const [tool, member, total] of [
    ["list_endpoints", "endpoints", 61],
    ["list_webhooks", "webhooks", 52],
  ] as const) {
    const first = (await agent.call(tool)).said;
    expect(first[member]).toHaveLength(50);
    const rest = (await agent.call(tool, { cursor: first["next_cursor"] })).said;
    expect(rest["next_cursor"]).toBeNull();
    const shown = [first, rest].flatMap((page) => page[member] as { id: string }[]);
    expect(new Set(shown.map(({ id }) => id)).size).toBe(total);
    expect((await agent.call(tool, { limit: 2 })).said[member]).toHaveLength(2);
  }
  const { usage, left_out } = (await agent.call("get_usage")).said;
  expect([usage, left_out]).toEqual([expect.objectContaining({ length: 50 }), 2]);
});

test("a compressed request is refused by that, not as one that is not JSON", async () => {
  const server = await serve();
  const token = await makeToken(server);
  const answer = await server.request({
    method: "POST",
    path: "/mcp",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  expect([answer.status, answer.json["message"]]).toEqual([
    415,
    "Send the body as it is, without Content-Encoding.",
  ]);
});
