import { describe, expect, test } from "vitest";
import { listChanges, listChangesOfToken } from "../../src/audit/audit-store.ts";
import type { Database } from "../../src/database/database.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { pauseEndpoint } from "../../src/endpoints/endpoint-operations.ts";
import type { Scope } from "../../src/operations/access.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { checkTokenExpiry } from "../../src/tokens/token-health.ts";
import {
  createToken,
  listAllTokens,
  revokeOwnToken,
  revokeToken,
  showOwnToken,
} from "../../src/tokens/token-operations.ts";
import { findLiveToken, noteUse } from "../../src/tokens/token-store.ts";
import { DEFAULT_SCOPES, makeTokenText, readTokenText } from "../../src/tokens/token.ts";
import { setAccount } from "../../src/workspaces/account-operations.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { performOn } from "../support/terminal.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** Ada is an operator, Ben is not; each has a workspace, and Ben a form. */
async function people(db: Database) {
  const make = async (email: string) => {
    const { account, workspace } = await db.transaction(() => insertAccountRows(email, NOON));
    const { id: accountId, isOperator } = account;
    return {
      email,
      workspace: workspace.id,
      actor: { kind: "account", accountId, email, isOperator } as const,
    };
  };
  const [ada, ben] = [await make("ada@example.com"), await make("ben@example.com")];
  const { endpoint } = await performOn(db, createEndpoint, {
    name: "Contact",
    schema: exampleSchema,
    workspace: ben.workspace,
  });
  return { ada, ben, endpoint: endpoint.id };
}

async function actorOf(db: Database, secret: string, now: number = NOON): Promise<Actor | undefined> {
  const read = readTokenText(secret);
  return read === null ? undefined : (await db.read(() => findLiveToken(read, now)))?.actor;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a token is found by its text alone, which is stored nowhere, until it ends", async () => {
    const db = await temporary();
    const { ben } = await people(db);
    const made = await performOn(db, createToken, { name: " CI ", account: ben.email });
    expect(made).toEqual({
      token: {
        id: expect.stringMatching(/^tok_/) as string,
        name: "CI",
        account: ben.email,
        workspace_id: null,
        endpoint_id: null,
        scopes: DEFAULT_SCOPES,
        expires_at: new Date(NOON + 90 * DAY_MS).toISOString(),
        last_used_on: null,
        created_at: new Date(NOON).toISOString(),
      },
      secret: expect.stringMatching(/^fat_[0-9A-Za-z]{50}$/) as string,
    });
    const { secret, token } = made;
    const stored = JSON.stringify(await rowsOf(db, "SELECT * FROM api_token"));
    expect(stored).toContain(secret.slice(4, 16));
    expect(stored).not.toContain(secret.slice(16));
    expect(await actorOf(db, secret)).toEqual({
      kind: "token",
      tokenId: token.id,
      name: "CI",
      account: { accountId: ben.actor.accountId, email: ben.email, isOperator: false },
      scopes: DEFAULT_SCOPES,
      reach: null,
    });
    // Of the same 12 characters, and right in form.
    const forged = { lookup: secret.slice(4, 16), text: makeTokenText().text };
    expect(await db.read(() => findLiveToken(forged, NOON))).toBeUndefined();
    for (const wrong of [secret.slice(0, -1), `${secret}x`, secret.replace("fat_", "fsk_"), "", "fat_"])
      expect(readTokenText(wrong), wrong).toBeNull();
    expect(await actorOf(db, secret, NOON + 90 * DAY_MS - 1)).toBeDefined();
    expect(await actorOf(db, secret, NOON + 90 * DAY_MS)).toBeUndefined();
    await performOn(db, revokeToken, { token: secret });
    expect(await actorOf(db, secret)).toBeUndefined();
    const again = await performOn(db, revokeToken, { token: token.id });
    expect(again.token.state).toBe("revoked");
    const revocations = (await db.read(() => listChanges(10))).filter(
      ({ action }) => action === "token.revoke",
    );
    expect(revocations).toHaveLength(1);
  });

  test("a token has the rights that its account has now, and ends with the account", async () => {
    const db = await temporary();
    const { ada, ben } = await people(db);
    const scopes: Scope[] = ["operator"];
    const { secret } = await performOn(db, createToken, { name: "x", account: ada.email, scopes });
    await performOn(db, setAccount, { account: ben.email, is_operator: true });
    await performOn(db, setAccount, { account: ada.email, is_operator: false });
    expect(await actorOf(db, secret)).toMatchObject({ account: { isOperator: false } });
    await write(db, `DELETE FROM workspace WHERE id = '${ada.workspace}'`);
    await write(db, `DELETE FROM account WHERE id = '${ada.actor.accountId}'`);
    expect(await actorOf(db, secret)).toBeUndefined();
    expect(await rowsOf(db, "SELECT id FROM api_token")).toEqual([]);
  });

  test("a change by a token names it, with its account if it has one, and the token's own changes are listed", async () => {
    const db = await temporary();
    const { ben, endpoint } = await people(db);
    const scopes: Scope[] = ["endpoints:write"];
    const ids = [];
    for (const owner of [{ account: ben.email }, { workspace: ben.workspace }, { endpoint }]) {
      const { secret, token } = await performOn(db, createToken, { name: "CI", scopes, ...owner });
      const actor = await actorOf(db, secret);
      if (actor === undefined) throw new Error("no actor");
      await performOn(db, pauseEndpoint, { endpoint }, { actor });
      expect((await db.read(() => listChanges(1)))[0]).toMatchObject({
        action: "endpoint.pause",
        actor: {
          tokenId: token.id,
          tokenName: "CI",
          account: "account" in owner ? { accountId: ben.actor.accountId, email: ben.email } : null,
        },
      });
      expect(await db.read(() => listChangesOfToken(token.id, 5))).toHaveLength(1);
      ids.push(token.id);
      const own = await performOn(db, showOwnToken, {}, { actor });
      expect(own.token).toMatchObject({ id: token.id, state: "active" });
      await performOn(db, revokeOwnToken, {}, { actor });
      expect(await actorOf(db, secret)).toBeUndefined();
    }
    const listed = await performOn(db, listAllTokens, {});
    expect(listed.data.map(({ id, state }) => [id, state])).toEqual(ids.map((id) => [id, "revoked"]));
  });

  test("the day of the last use is kept, and a token that ends within 14 days is a finding", async () => {
    const db = await temporary();
    await people(db);
    const { token } = await performOn(db, createToken, { name: "CI", account: "ada@example.com" });
    const warnedFrom = NOON + 76 * DAY_MS;
    expect(await db.read(() => checkTokenExpiry(warnedFrom - 1))).toMatchObject({ ok: true });
    const finding = await db.read(() => checkTokenExpiry(warnedFrom));
    expect(finding).toMatchObject({
      ok: false,
      message: expect.stringContaining(`CI (${token.id})`) as string,
    });
    expect(await db.read(() => checkTokenExpiry(NOON + 90 * DAY_MS))).toMatchObject({ ok: true });
    await db.transaction(() => noteUse(token.id, NOON + 3));
    const listed = await performOn(db, listAllTokens, {}, { now: NOON + 90 * DAY_MS });
    expect(listed.data).toMatchObject([
      { last_used_on: new Date(NOON).toISOString().slice(0, 10), state: "expired" },
    ]);
  });

  test("an account has 50 tokens that work, and the last 100 ended ones stay listed", async () => {
    const db = await temporary();
    const { ben } = await people(db);
    const input = { name: "CI", account: ben.email };
    for (let made = 0; made < 50; made += 1) await performOn(db, createToken, input);
    await expect(performOn(db, createToken, input)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("at most 50 tokens") as string,
    });
    await performOn(db, createToken, { name: "CI", workspace: ben.workspace });
    await write(db, `UPDATE api_token SET revoked_at = ${NOON}`);
    for (let made = 0; made < 50; made += 1) await performOn(db, createToken, input);
    await write(db, `UPDATE api_token SET revoked_at = ${NOON}`);
    for (let made = 0; made < 10; made += 1) await performOn(db, createToken, input);
    const own = `SELECT count(*) AS tokens FROM api_token WHERE account_id = '${ben.actor.accountId}'`;
    expect(await rowsOf(db, own)).toEqual([{ tokens: 110 }]);
  });
});

test("somebody signed in makes, sees and revokes the own tokens and those of the own workspaces only", async () => {
  const { temporary } = ENGINES[0]!;
  const db = await temporary();
  const { ada, ben, endpoint } = await people(db);
  const { actor } = ben;
  const own = await performOn(db, createToken, { name: "own" }, { actor });
  expect(own.token.account).toBe(ben.email);
  const service = await performOn(db, createToken, { name: "service", endpoint }, { actor });
  expect(service.token).toMatchObject({ account: null, workspace_id: ben.workspace, endpoint_id: endpoint });
  const hers = await performOn(db, createToken, { name: "hers" }, { actor: ada.actor });
  const atHers = await performOn(db, createToken, { name: "at hers", workspace: ada.workspace });
  const seen = await performOn(db, listAllTokens, {}, { actor });
  expect(seen.data.map(({ name }) => name)).toEqual(["own", "service"]);
  expect((await performOn(db, listAllTokens, {}, { actor: ada.actor })).data).toHaveLength(4);
  for (const { token, secret } of [hers, atHers])
    for (const reference of [token.id, secret])
      await expect(performOn(db, revokeToken, { token: reference }, { actor })).rejects.toMatchObject({
        code: "not_found",
      });
  await expect(
    performOn(db, createToken, { name: "x", account: ada.email }, { actor }),
  ).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(
    performOn(db, createToken, { name: "x", workspace: ada.workspace }, { actor }),
  ).rejects.toMatchObject({ code: "not_found" });
  await performOn(db, revokeToken, { token: own.token.id }, { actor });
  await performOn(db, revokeToken, { token: service.token.id }, { actor });
});

test("a token makes, lists and revokes no token but itself", async () => {
  const { temporary } = ENGINES[0]!;
  const db = await temporary();
  const { ada } = await people(db);
  const all: Scope[] = ["operator", "workspace:write", "members:write"];
  const { secret, token } = await performOn(db, createToken, { name: "x", account: ada.email, scopes: all });
  const actor = await actorOf(db, secret);
  if (actor === undefined) throw new Error("no actor");
  for (const tried of [
    performOn(db, createToken, { name: "y" }, { actor }),
    performOn(db, listAllTokens, {}, { actor }),
    performOn(db, revokeToken, { token: token.id }, { actor }),
  ])
    await expect(tried).rejects.toMatchObject({ code: "forbidden", message: "a token may not do that" });
  expect(await rowsOf(db, "SELECT id FROM api_token WHERE revoked_at IS NULL")).toHaveLength(1);
});

test.each([
  [{ name: "x", account: "ada@example.com", scopes: [] }, /at least one scope/],
  [{ name: "", account: "ada@example.com" }, /name is empty/],
  [{ name: "x", account: "ben@example.com", scopes: ["operator"] as Scope[] }, /only an operator’s token/],
  [{ name: "x", workspace: "ada", account: "ada@example.com" }, /name one/],
  [{ name: "x", account: "ada@example.com", expires_in_ms: 999 }, /from 1 second to 3650 days/],
  [{ name: "x", account: "ada@example.com", expires_in_ms: 3651 * DAY_MS }, /from 1 second to 3650 days/],
  [{ name: "x", account: "nobody@example.com" }, /there is no account/],
  [{ name: "x" }, /several accounts/],
])("a token of wrong input (%j) is not made", async (input, message) => {
  const db = await ENGINES[0]!.temporary();
  await people(db);
  await expect(performOn(db, createToken, input)).rejects.toThrow(message);
  expect(await rowsOf(db, "SELECT id FROM api_token")).toEqual([]);
});
