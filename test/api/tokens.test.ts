import { expect, test } from "vitest";
import { performOn } from "../support/terminal.ts";
import { makeTokenText } from "../../src/tokens/token.ts";
import { revokeToken } from "../../src/tokens/token-operations.ts";
import { setAccount } from "../../src/workspaces/account-operations.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { startServer } from "../support/test-server.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

test("no token, a malformed, unknown, revoked or expired one is answered 401 with the same body", async () => {
  const server = await startServer();
  await server.addEndpoint();
  const revoked = await makeToken(server);
  await performOn(server.owner, revokeToken, { token: revoked }, { now: server.clock.now() });
  const expired = await makeToken(server, undefined, { expires_in_ms: HOUR_MS });
  expect((await askWith(server, expired)("GET", "/token")).status).toBe(200);
  server.clock.advance(HOUR_MS);
  const form = await server.addEndpoint();
  const bodies = new Set<string>();
  for (const token of [null, "nonsense", makeTokenText().text, revoked, expired, form.secret]) {
    const answer = await askWith(server, token)("GET", "/endpoints");
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    bodies.add(answer.text);
  }
  expect(bodies.size).toBe(1);
});

test("a token that ends or narrows does so from the next request on", async () => {
  const server = await startServer();
  const { workspaceId } = await server.addEndpoint();
  const { account } = await server.owner.transaction(() =>
    insertAccountRows("ben@example.com", server.clock.now()),
  );
  const now = server.clock.now();
  await performOn(server.owner, setAccount, { account: account.email, is_operator: true }, { now });
  const token = await makeToken(server, undefined, { account: account.email });
  const ask = askWith(server, token);
  expect((await ask("GET", `/workspaces/${workspaceId}`)).status).toBe(200);
  expect((await ask("GET", "/accounts")).status).toBe(200);
  await performOn(server.owner, setAccount, { account: account.email, is_operator: false }, { now });
  expect((await ask("GET", "/accounts")).status).toBe(403);
  expect((await ask("GET", `/workspaces/${workspaceId}`)).status).toBe(404);
  await performOn(server.owner, revokeToken, { token }, { now });
  expect((await ask("GET", "/endpoints")).status).toBe(401);
});

test("a token tells of itself and gives itself up, and the day of its last use is kept", async () => {
  const server = await startServer();
  await server.addEndpoint();
  const ask = askWith(server, await makeToken(server, ["endpoints:read"]));
  const today = new Date(server.clock.now()).toISOString().slice(0, 10);
  expect((await ask("GET", "/token")).json).toMatchObject({
    token: { name: "test", scopes: ["endpoints:read"], state: "active", last_used_on: today },
  });
  expect((await ask("DELETE", "/token")).status).toBe(204);
  expect((await ask("GET", "/token")).status).toBe(401);
});

test("the tokens of an account have one limit, which their answers count down, and others have theirs", async () => {
  const server = await startServer({ rateLimit: { token: { max: 2, windowSeconds: 3600 } } });
  const { id: endpoint, workspaceId: workspace } = await server.addEndpoint();
  const asker = async (whose: Parameters<typeof makeToken>[2]) =>
    askWith(server, await makeToken(server, ["endpoints:read"], whose));
  const [one, other] = [await asker({}), await asker({})];
  const ofForm = await asker({ endpoint });
  const ofWorkspace = await asker({ workspace });
  const { account } = await server.owner.transaction(() =>
    insertAccountRows("ben@example.com", server.clock.now()),
  );
  const ofBen = await asker({ account: account.email });
  for (const [first, second] of [
    [one, other],
    [ofForm, ofWorkspace],
  ] as const) {
    const answers = [await first("GET", "/endpoints"), await second("GET", "/endpoints")];
    expect(answers.map(({ headers }) => headers["ratelimit-remaining"])).toEqual(["1", "0"]);
    const refused = await first("GET", "/endpoints");
    expect([refused.status, refused.json]).toMatchObject([429, { code: "rate_limited" }]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await second("GET", "/endpoints")).status).toBe(429);
  }
  expect((await ofBen("GET", "/endpoints")).status).toBe(200);
});

test("wrong tokens are limited by address, and a genuine one that is known is let through", async () => {
  const server = await startServer({ rateLimit: { badKey: { max: 3, windowSeconds: 3600 } } });
  await server.addEndpoint();
  const known = askWith(server, await makeToken(server));
  expect((await known("GET", "/endpoints")).status).toBe(200);
  const statuses = [];
  for (let tried = 0; tried < 5; tried += 1)
    statuses.push((await askWith(server, makeTokenText().text)("GET", "/endpoints")).status);
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  expect((await known("GET", "/endpoints")).status).toBe(200);
  expect((await askWith(server, await makeToken(server))("GET", "/endpoints")).status).toBe(429);
});

test("plain http is refused to clients of other machines, and https goes through a trusted proxy", async () => {
  const server = await startServer({ server: { trustProxy: ["127.0.0.1"] } });
  await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const from = (headers: Record<string, string>) => ask("GET", "/endpoints", { headers });
  expect((await from({})).status).toBe(200);
  const elsewhere = { "x-forwarded-for": "203.0.113.7" };
  const refused = await from(elsewhere);
  expect([refused.status, refused.json]).toMatchObject([403, { code: "forbidden" }]);
  expect((refused.json as { message: string }).message).toContain("needs https");
  expect((await from({ ...elsewhere, "x-forwarded-proto": "http" })).status).toBe(403);
  expect((await from({ ...elsewhere, "x-forwarded-proto": "https" })).status).toBe(200);
  expect((await askWith(server, null)("GET", "/openapi.json", { headers: elsewhere })).status).toBe(200);
});
