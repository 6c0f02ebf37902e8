import { newId } from "../../src/foundation/id.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import { listEndpointKeys } from "../../src/endpoints/key-operations.ts";
import { createRecipient } from "../../src/mail/ask-recipient.ts";
import { ruleOf, type Scope, SCOPES } from "../../src/operations/access.ts";
import { revokeToken } from "../../src/tokens/token-operations.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { contentOf } from "../support/database-content.ts";
import { addFile } from "../support/owner-home.ts";
import { performOn } from "../support/terminal.ts";
import { goodPost, launchServer, type TestServer } from "../support/test-server.ts";

/** What the paths of routes name, of the first account, which is an operator. */
type Names = Readonly<Record<string, string>>;

let server: TestServer;
let names: Names;
/** An account that is no operator and has a workspace of its own. */
let stranger: string;

beforeAll(async () => {
  server = await launchServer();
  const { id: endpoint, workspaceId: workspace, secret } = await server.addEndpoint();
  const keys = await performOn(server.owner, listEndpointKeys, { endpoint });
  const [account] = server.owner.now(listAccounts);
  await server.post(secret, goodPost);
  const submission = server.owner.prepare("SELECT id FROM submission").pluck().get() as string;
  await server.post(secret, { ...goodPost, _gotcha: "x" });
  const held = server.owner.prepare("SELECT id FROM held").pluck().get() as string;
  // After the posts, so that nothing is sent.
  server.owner.now(() => addWebhooks(endpoint, "http://127.0.0.1:9", 1));
  const webhook = server.owner.prepare("SELECT id FROM webhook").pluck().get() as string;
  const made = await performOn(
    server.owner,
    createRecipient,
    { endpoint, address: "office@example.org" },
    { parts: { storedLetters: null } },
  );
  const deliveries = [newId("msg", 1), newId("msg", 2)] as const;
  server.owner
    .execute(`INSERT INTO delivery (id, submission_id, recipient_id, state, due_at, finished_at) VALUES
    ('${deliveries[0]}', '${submission}', '${webhook}', 'delivered', 1, 2),
    ('${deliveries[1]}', '${submission}', '${made.recipient.id}', 'delivered', 1, 2)`);
  names = {
    "webhook-deliveries": deliveries[0],
    "mail-deliveries": deliveries[1],
    recipient: made.recipient.id,
    endpoint,
    workspace,
    submission,
    file: addFile(server, endpoint, submission),
    held,
    webhook,
    key: keys.data[0]?.id ?? "",
    account: account?.id ?? "",
    email: account?.email ?? "",
  };
  stranger = server.owner.now(() => insertAccountRows("eve@example.com", server.clock.now())).account.email;
});
afterAll(() => server.stop());

/** The path of a route with names of rows that are there. */
function pathOf(path: string): string {
  return path.replace(/:(\w+)/g, (_match, name: string) => {
    // A message has its place under what it was sent to.
    const value = names[name] ?? names[path.split("/")[1] ?? ""];
    if (value === undefined) throw new Error(`add a row that ${path} can name: ${name}`);
    return value;
  });
}

const tokens = new Map<string, Promise<string>>();

/** The same token for the same scopes: an account has a limited number of them. */
function tokenOf(account: string, scopes: readonly Scope[]): Promise<string> {
  const name = JSON.stringify([account, scopes]);
  const made = tokens.get(name) ?? makeToken(server, scopes, { account });
  tokens.set(name, made);
  return made;
}

/** All rows, but for the days on which tokens were used. */
async function content(): Promise<unknown> {
  return { ...(await contentOf(server.owner)), api_token: null };
}

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
        `The token has not the scope ${needed}.`,
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
