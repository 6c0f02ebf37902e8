import { newId } from "../../src/foundation/id.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { ruleOf, type Scope, SCOPES } from "../../src/operations/access.ts";
import { revokeToken } from "../../src/tokens/token-operations.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { type ApiWorld, contentOfWorld, launchApiWorld } from "../support/api-world.ts";
import { performOn } from "../support/terminal.ts";
import type { TestServer } from "../support/test-server.ts";

let world: ApiWorld;
let server: TestServer;
let names: ApiWorld["names"];
let stranger: string;
let pathOf: ApiWorld["pathOf"];

beforeAll(async () => {
  world = await launchApiWorld();
  ({ server, names, stranger, pathOf } = world);
});
afterAll(() => world.server.stop());

const tokens = new Map<string, Promise<string>>();

/** The same token for the same scopes: an account has a limited number of them. */
function tokenOf(account: string, scopes: readonly Scope[]): Promise<string> {
  const name = JSON.stringify([account, scopes]);
  const made = tokens.get(name) ?? makeToken(server, scopes, { account });
  tokens.set(name, made);
  return made;
}

const content = (): Promise<unknown> => contentOfWorld(world);

const asked = ROUTES.map((route) => ({
  ...route,
  name: route.operation.name,
  scopes: ruleOf(route.operation.access).scopes ?? [],
}));

describe.each(asked)("$name ($method $path)", ({ method, path, scopes, operation }) => {
  test("is refused to a token that has every scope but the needed one, and nothing is changed", async () => {
    const before = await content();
    for (const needed of scopes) {
      const others = SCOPES.filter((each) => each !== needed && each !== needed.replace(/read$/, "write"));
      const answer = await askWith(server, await tokenOf(names["account"] ?? "", others))(
        method,
        pathOf(path),
      );
      expect([answer.status, answer.json["code"], answer.json["message"]]).toEqual([
        403,
        "forbidden",
        `the token does not have the scope ${needed}`,
      ]);
    }
    expect(await auditless(content)).toEqual(await auditless(() => Promise.resolve(before)));
  });

  test("knows nothing of another workspace's rows, and changes nothing of them", async () => {
    const withoutOperator = SCOPES.filter((scope) => scope !== "operator");
    const token = await (path === "/token"
      ? makeToken(server, withoutOperator, { account: stranger })
      : tokenOf(stranger, withoutOperator));
    const ask = askWith(server, token);
    const before = await content();
    const answer = await ask(method, pathOf(path));
    if (ruleOf(operation.access).role === "operator") expect(answer.status).toBe(403);
    else if (path.includes(":")) expect([answer.status, answer.json["code"]]).toEqual([404, "not_found"]);
    else expect(answer.text).not.toContain(names["endpoint"]);
    if (path !== "/token") expect(await content()).toEqual(before);
  });

  test("is refused to a token that is unknown, revoked a moment ago or expired", async () => {
    const owner = { account: names["account"] ?? "" };
    const now = server.clock.now();
    const revoked = await makeToken(server, SCOPES, owner);
    await performOn(server.owner, revokeToken, { token: revoked }, { now });
    const expired = await makeToken(server, SCOPES, { ...owner, expires_in_ms: 1000 });
    server.clock.advance(1000);
    const before = await content();
    for (const token of [null, revoked, expired])
      expect((await askWith(server, token)(method, pathOf(path))).status).toBe(401);
    expect(await content()).toEqual(before);
  });
});

/** The record of changes has the tokens that the test made. */
async function auditless(read: () => Promise<unknown>): Promise<unknown> {
  return { ...((await read()) as object), audit_event: null };
}

test("a token of submissions:read alone gets no key, no secret, no other workspace and no write", async () => {
  const thief: Scope[] = ["submissions:read"];
  const ask = askWith(server, await makeToken(server, thief, { workspace: names["workspace"] ?? "" }));
  const before = await content();
  for (const { method, path, operation } of ROUTES) {
    if (path === "/token") continue;
    const answer = await ask(method, pathOf(path), method === "GET" ? {} : { body: {} });
    // What happened is told to each token by the scopes that it has.
    const scopes = ruleOf(operation.access).scopes ?? [];
    const isHers = scopes.every((scope) => thief.includes(scope));
    if (!isHers) expect([path, answer.status]).toEqual([path, 403]);
    expect(answer.text).not.toMatch(/f[sp]k_[0-9A-Za-z]{50}|whsec_|fat_/);
  }
  expect(await content()).toEqual(before);
});

test("the header Formsvc-Only gives less than the token can, never more", async () => {
  const { workspace = "", endpoint = "", submission = "", account = "" } = names;
  const [foreign] = server.owner
    .prepare("SELECT id FROM workspace WHERE id <> ?")
    .pluck()
    .all(workspace) as string[];
  const whole = await tokenOf(account, ["submissions:read", "endpoints:read"]);
  const hers = await tokenOf(stranger, ["submissions:read", "endpoints:read"]);
  const seen = async (token: string, only: string, path = `/submissions/${submission}`) =>
    (await askWith(server, token)("GET", path, { headers: { "formsvc-only": only } })).status;
  expect(await seen(whole, endpoint)).toBe(200);
  expect(await seen(whole, workspace)).toBe(200);
  expect(await seen(hers, endpoint)).toBe(404);
  expect(await seen(hers, workspace)).toBe(404);
  expect(await seen(hers, foreign ?? "")).toBe(404);
  expect(await seen(hers, foreign ?? "", "/endpoints")).toBe(200);
  expect(await seen(whole, newId("ep", 1))).toBe(404);
  for (const wrong of ["", "*", "Contact", `${endpoint}, ${workspace}`])
    expect(await seen(whole, wrong)).toBe(400);
  const made = { name: "Second", schema: exampleSchema, workspace };
  const { endpoint: second } = await performOn(server.owner, createEndpoint, made, {
    now: server.clock.now(),
  });
  expect(await seen(whole, second.id)).toBe(404);
  expect(await seen(whole, endpoint, `/endpoints/${second.id}`)).toBe(404);
  expect(await seen(whole, workspace, `/endpoints/${second.id}`)).toBe(200);
  const bound = await makeToken(server, ["endpoints:read"], { endpoint });
  expect(await seen(bound, second.id, `/endpoints/${second.id}`)).toBe(404);
  expect(await seen(bound, workspace, `/endpoints/${endpoint}`)).toBe(200);
  expect(await seen(bound, workspace, `/endpoints/${second.id}`)).toBe(404);
});

/** Requests about more than one endpoint, with what they need besides scopes. */
const beyondOne = (): readonly (readonly [method: string, path: string, body?: object])[] => {
  const { workspace = "", email = "", account = "" } = names;
  const whole = `/workspaces/${workspace}`;
  const form = { name: "Another", schema: exampleSchema };
  return [
    ["POST", "/endpoints", form],
    ["POST", "/endpoints", { ...form, workspace }],
    ["PATCH", whole, { name: "Mine" }],
    ["PATCH", `${whole}/settings`, { time_zone: "Europe/Berlin" }],
    ["PUT", `${whole}/plan`, { plan: "business" }],
    ["GET", `${whole}/contents`],
    ["GET", `${whole}/export`],
    ["GET", `${whole}/usage`],
    ["GET", `${whole}/members`],
    ["POST", `${whole}/members`, { email: "thief@example.com", role: "owner" }],
    ["PATCH", `${whole}/members/${email}`, { role: "reader" }],
    ["DELETE", `${whole}/members/${email}`],
    ["DELETE", whole],
    ["GET", "/accounts"],
    ["POST", "/accounts", { email: "thief@example.com" }],
    ["GET", `/accounts/${account}`],
    ["GET", "/findings"],
  ];
};

test("a token of one endpoint, and a request that is limited to one, do nothing that concerns more, whatever the scopes are", async () => {
  const { account = "", endpoint = "", workspace = "" } = names;
  const all = SCOPES.filter((scope) => scope !== "operator");
  const ways = [
    { token: await makeToken(server, all, { endpoint }), headers: {} },
    { token: await makeToken(server, SCOPES, { account }), headers: { "formsvc-only": endpoint } },
  ];
  const before = await content();
  for (const { token, headers } of ways) {
    const ask = askWith(server, token);
    for (const [method, path, body] of beyondOne()) {
      const answer = await ask(method, path, { headers, ...(body && { body }) });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
    expect((await ask("GET", "/usage", { headers })).text).not.toContain(workspace);
    expect((await ask("GET", `/endpoints/${endpoint}`, { headers })).status).toBe(200);
    expect((await ask("GET", "/submissions", { headers })).json["data"]).not.toEqual([]);
    expect((await ask("GET", `/endpoints/${endpoint}/keys`, { headers })).status).toBe(200);
  }
  expect(await content()).toEqual(before);
});
