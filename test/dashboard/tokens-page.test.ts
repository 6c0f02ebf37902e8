import { expect, test } from "vitest";
import { listTokens } from "../../src/tokens/token-store.ts";
import { askWith } from "../support/api-client.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

const TOKENS = "/dashboard/account/tokens";
const OWN = { name: "deploy", owner: "own", expires: "30", scopes: "endpoints:read" };

/** Ada, who looks after the installation, and Ben, who owns a workspace. */
async function world() {
  const server = await startServer();
  const ada = await visit(server);
  const ben = await visit(server, "ben@example.com");
  return { server, ada, ben };
}

const secretIn = (text: string): string => /fat_[0-9A-Za-z_]+/.exec(text)?.[0] ?? "";
const idIn = (text: string): string => /account\/tokens\/(tok_[0-9a-z]{26})/.exec(text)?.[1] ?? "";

test("a token is shown once, works, tells its scopes in words, what it did, and is refused when revoked", async () => {
  const { server, ben } = await world();
  const form = { ...OWN, form_mark: "0d1f1a3e-4a55-4d0c-9a53-1d6e26c8c2aa", scopes: "workspace:write" };
  const made = await ben.post(TOKENS, form);
  const secret = secretIn(made.text);
  expect([made.status, secret.length > 20]).toEqual([201, true]);
  const again = await ben.post(TOKENS, form);
  expect([again.status, again.headers["location"]]).toEqual([303, `${TOKENS}?notice=token-made-already`]);
  const listed = await ben.get(TOKENS);
  expect(listed.text).toContain("deploy");
  expect(listed.text.includes(secret)).toBe(false);
  const path = `${TOKENS}/${idIn(listed.text)}`;
  const shown = await ben.get(path);
  expect(shown.text).toContain("Change workspaces");
  expect(shown.text).toContain("never used");
  expect(shown.text).toContain("It has changed nothing yet.");
  expect(shown.text.includes(secret)).toBe(false);
  const ask = askWith(server, secret);
  expect((await ask("GET", "/workspaces")).status).toBe(200);
  const revoked = await ben.post(`${path}/revoke`);
  expect(revoked.headers["location"]).toBe(`${TOKENS}?notice=token-revoked`);
  expect((await ask("GET", "/workspaces")).status).toBe(401);
  expect((await ben.get(path)).text).toContain("Revoked");
});

test("somebody else's token is neither listed nor shown nor revoked", async () => {
  const { server, ada, ben } = await world();
  await ada.post(TOKENS, OWN);
  const id = idIn((await ada.get(TOKENS)).text);
  expect(id).not.toBe("");
  expect((await ben.get(TOKENS)).text).toContain("No program has a token yet.");
  expect((await ben.get(`${TOKENS}/${id}`)).status).toBe(404);
  expect((await ben.post(`${TOKENS}/${id}/revoke`)).status).toBe(404);
  const viewing = { accountId: null, isOperator: true };
  expect(server.owner.now(() => listTokens(viewing))).toMatchObject([{ id, revokedAt: null }]);
});

test("the scope operator is offered to operators alone, and refused to others", async () => {
  const { ada, ben } = await world();
  expect((await ada.get(TOKENS)).text).toContain('value="operator"');
  expect((await ben.get(TOKENS)).text).not.toContain('value="operator"');
  const refused = await ben.post(TOKENS, { ...OWN, scopes: "operator" });
  expect([refused.status, secretIn(refused.text)]).toEqual([422, ""]);
});

test.each([
  ["no name", { name: "" }, 422],
  ["a name that is too long", { name: "x".repeat(5000) }, 422],
  ["no scope", { scopes: "" }, 422],
  ["an unknown end", { expires: "5000" }, 400],
  ["an unknown workspace", { owner: "ws_01aaaaaaaaaaaaaaaaaaaaaaaa" }, 404],
])("%s makes no token", async (_, given, status) => {
  const { ben } = await world();
  const answer = await ben.post(TOKENS, { ...OWN, ...given });
  expect([answer.status, secretIn(answer.text)]).toEqual([status, ""]);
  expect((await ben.get(TOKENS)).text).toContain("No program has a token yet.");
});
