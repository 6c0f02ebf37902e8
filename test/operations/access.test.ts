import { describe, expect, test } from "vitest";
import { OPERATIONS } from "../../src/api/all-operations.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { deleteEndpoint } from "../../src/endpoints/delete-endpoint.ts";
import { listAllEndpoints, pauseEndpoint, showEndpoint } from "../../src/endpoints/endpoint-operations.ts";
import { issueKey, revokeKey, rotateKey } from "../../src/endpoints/key-operations.ts";
import { type Access, ACCESS, ROLES, ruleOf, type Scope, SCOPES } from "../../src/operations/access.ts";
import { type Actor, type Reach, requireAccess } from "../../src/operations/actor.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { requireStanding } from "../../src/workspaces/standing.ts";
import { type Identity, threeOwners, tokenOf } from "../support/actors.ts";
import type { temporaryDatabase } from "../support/temporary-database.ts";
import { performOn } from "../support/terminal.ts";

const account = { accountId: "acct_1", email: "ada@example.com", isOperator: false };
const operator = { ...account, isOperator: true };

const token = (scopes: readonly Scope[], of: Identity | null = account, reach: Reach | null = null): Actor =>
  tokenOf(of, scopes, reach);

function isRefused(actor: Actor, access: Access): boolean {
  try {
    requireAccess(actor, access);
    return false;
  } catch {
    return true;
  }
}

/** Each operation, once for each row of the table that it names. */
const ASKED = OPERATIONS.flatMap(({ name, access, furtherAccess = [] }) =>
  [access, ...furtherAccess].map((each) => ({ name, access: each })),
);

describe.each(ASKED)("$name ($access)", ({ access }) => {
  const { role, scopes, byLink = false } = ruleOf(access);

  test("is done by a token with its scopes, and by none that lacks one of them, whatever else it has", () => {
    const full = token(SCOPES, operator);
    expect(isRefused(full, access)).toBe(scopes === null);
    for (const missing of scopes ?? []) {
      const others = SCOPES.filter(
        (scope) => scope !== missing && scope !== missing.replace(/read$/, "write"),
      );
      expect(isRefused(token(others, operator), access), missing).toBe(true);
    }
    if (scopes !== null) expect(isRefused(token(scopes, operator), access)).toBe(false);
  });

  test("is done from each role on that the table names", () => {
    if (role === null) return;
    for (const has of ROLES) {
      const isEnough = ROLES.indexOf(has) >= ROLES.indexOf(role);
      const standing = { role: has, endpoints: null, mayExport: true, seesSpamDetails: true };
      const ask = () => requireStanding(standing, access);
      if (isEnough) expect(ask, has).not.toThrow();
      else expect(ask, has).toThrow(`it needs ${role}`);
    }
  });

  test("is done at the machine, and by no link of a letter unless it is made for one", () => {
    expect(isRefused({ kind: "terminal", user: null }, access)).toBe(false);
    expect(isRefused({ kind: "visitor" }, access)).toBe(!byLink);
    expect(isRefused({ kind: "account", ...account }, access)).toBe(role === "operator");
    expect(isRefused({ kind: "account", ...operator }, access)).toBe(false);
  });
});

test("every row of the table of access is used", () => {
  const used = new Set(ASKED.map(({ access }) => access));
  expect(Object.keys(ACCESS).filter((access) => !used.has(access as Access))).toEqual([]);
});

const seenBy = async (db: ReturnType<typeof temporaryDatabase>, actor: Actor): Promise<string[]> =>
  (await performOn(db, listAllEndpoints, {}, { actor })).data.map(({ id }) => id);

test("somebody else's form is like none in each operation, and has no part in whether a name is unique", async () => {
  const { db, ada, ben, cleo } = await threeOwners();
  const { actor } = ben;
  const hers = { endpoint: cleo.endpoint };
  for (const strange of [
    performOn(db, showEndpoint, hers, { actor }),
    performOn(db, pauseEndpoint, hers, { actor }),
    performOn(db, deleteEndpoint, hers, { actor, parts: { endpointContents: { deletions: [], moves: [] } } }),
  ]) {
    const message = `there is no endpoint ${cleo.endpoint}`;
    await expect(strange).rejects.toMatchObject({ code: "not_found", message });
  }
  const inHers = performOn(db, showEndpoint, { endpoint: "Contact", workspace: cleo.workspace }, { actor });
  await expect(inHers).rejects.toMatchObject({ code: "not_found" });
  const named = await performOn(db, showEndpoint, { endpoint: "Contact" }, { actor });
  expect(named.endpoint.id).toBe(ben.endpoint);
  const ambiguous = performOn(db, showEndpoint, { endpoint: "Contact" }, { actor: ada.actor });
  await expect(ambiguous).rejects.toMatchObject({ code: "ambiguous" });
  expect(await seenBy(db, actor)).toEqual([ben.endpoint]);
  expect(await seenBy(db, ada.actor)).toEqual([ada.endpoint, ben.endpoint, cleo.endpoint]);
  const elsewhere = { name: "Shop", schema: exampleSchema, workspace: cleo.workspace };
  await expect(performOn(db, createEndpoint, elsewhere, { actor })).rejects.toMatchObject({
    code: "not_found",
  });
});

test("a token sees what its account sees, narrowed by its reach, and everything only as an operator's with that scope", async () => {
  const { db, ada, ben, cleo } = await threeOwners();
  const see = (actor: Actor): Promise<string[]> => seenBy(db, actor);
  const scopes = ["endpoints:read"] as const;
  expect(await see(token(scopes, ben.identity))).toEqual([ben.endpoint]);
  expect(await see(token(scopes, ada.identity))).toEqual([ada.endpoint]);
  expect(await see(token([...scopes, "operator"], ada.identity))).toHaveLength(3);
  expect(await see(token([...scopes, "operator"], ben.identity))).toEqual([ben.endpoint]);
  const atCleo = { workspaceId: cleo.workspace, endpointId: null };
  expect(await see(token(scopes, null, atCleo))).toEqual([cleo.endpoint]);
  expect(await see(token(scopes, ben.identity, atCleo))).toEqual([]);
  const { endpoint } = await performOn(db, createEndpoint, {
    name: "Shop",
    schema: exampleSchema,
    workspace: cleo.workspace,
  });
  const atShop = { workspaceId: cleo.workspace, endpointId: endpoint.id };
  for (const owner of [null, cleo.identity]) {
    const actor = token(scopes, owner, atShop);
    expect(await see(actor)).toEqual([endpoint.id]);
    const other = performOn(db, showEndpoint, { endpoint: cleo.endpoint }, { actor });
    await expect(other).rejects.toMatchObject({ code: "not_found" });
  }
});

test("a secret key is issued, rotated and revoked only by who may read what was sent", async () => {
  const { db, ben } = await threeOwners();
  const actor = token(["endpoints:write"], ben.identity);
  const reader = token(["endpoints:write", "submissions:read"], ben.identity);
  const issue = { endpoint: ben.endpoint, kind: "secret" } as const;
  const issued = await performOn(db, issueKey, issue, { actor: reader });
  const refused = { code: "forbidden", message: "the token does not have the scope submissions:read" };
  await expect(performOn(db, issueKey, issue, { actor })).rejects.toMatchObject(refused);
  const key = { key: issued.key.id };
  await expect(performOn(db, rotateKey, key, { actor })).rejects.toMatchObject(refused);
  await expect(performOn(db, revokeKey, key, { actor })).rejects.toMatchObject(refused);
  const publishable = await performOn(db, issueKey, { ...issue, kind: "publishable" }, { actor });
  expect((await performOn(db, revokeKey, { key: publishable.key.id }, { actor })).key.state).toBe("revoked");
});

test("somebody else's key is like none, also for who has its whole text", async () => {
  const { db, ben, cleo } = await threeOwners();
  const issued = await performOn(db, issueKey, { endpoint: cleo.endpoint, kind: "secret" });
  for (const key of [issued.key.id, issued.secret ?? ""])
    await expect(performOn(db, revokeKey, { key }, { actor: ben.actor })).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/^there is no such key/) as string,
    });
});
