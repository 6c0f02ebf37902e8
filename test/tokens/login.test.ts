import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { approveLogin, denyLogin } from "../../src/tokens/login-operations.ts";
import {
  addLoginRequest,
  findWaitingLogin,
  LOGIN_MS,
  pollLogin,
  spendLogin,
} from "../../src/tokens/login-store.ts";
import { DEFAULT_SCOPES } from "../../src/tokens/token.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { performOn } from "../support/terminal.ts";

const asked = { clientName: "laptop", clientAddress: "192.0.2.7", scopes: DEFAULT_SCOPES };

async function world(db: Database) {
  const { account } = await db.transaction(() => insertAccountRows("ada@example.com", NOON));
  const { id: accountId, email, isOperator } = account;
  const actor = { kind: "account", accountId, email, isOperator } as const;
  const begin = (now = NOON, clientAddress = asked.clientAddress) =>
    db.transaction(() => addLoginRequest({ ...asked, clientAddress }, now));
  return {
    accountId,
    begin,
    poll: (device: string, now: number) => db.relaxedTransaction(() => pollLogin(device, now)),
    approve: (code: string, now = NOON) =>
      performOn(db, approveLogin, { code, scopes: ["endpoints:write"] }, { actor, now }),
    deny: (code: string, now = NOON) => performOn(db, denyLogin, { code }, { actor, now }),
  };
}

const codeOf = (outcome: PromiseSettledResult<unknown>): string =>
  outcome.status === "fulfilled" ? "done" : (outcome.reason as { code: string }).code;

describe.each(ENGINES)("a login on $name", ({ temporary }) => {
  test("waits, is approved with the scopes that were chosen, and is spent once", async () => {
    const db = await temporary();
    const { begin, poll, approve, accountId } = await world(db);
    const { deviceCode, userCode } = await begin();
    expect(await poll(deviceCode, NOON)).toMatchObject({ state: "waiting", accountId: null });
    expect(await poll(deviceCode, NOON + 999)).toBe("slow_down");
    await approve(` ${userCode.toLowerCase().replace("-", "")} `);
    expect(await poll(deviceCode, NOON + 2000)).toMatchObject({
      state: "approved",
      accountId,
      scopes: ["endpoints:write"],
    });
    const spends = [1, 2].map(() => db.transaction(() => spendLogin(deviceCode, NOON)));
    expect((await Promise.allSettled(spends)).map(codeOf).toSorted()).toEqual(["done", "gone"]);
    expect(await poll(deviceCode, NOON + 4000)).toBeUndefined();
  });

  test("is decided once, also by two who decide at the same time", async () => {
    const db = await temporary();
    const { begin, poll, approve, deny } = await world(db);
    const { deviceCode, userCode } = await begin();
    const decisions = await Promise.allSettled([approve(userCode), deny(userCode), approve(userCode)]);
    expect(decisions.map(codeOf).toSorted()).toEqual(["done", "not_found", "not_found"]);
    const isApproved = codeOf(decisions[1]) !== "done";
    expect(await poll(deviceCode, NOON)).toMatchObject({ state: isApproved ? "approved" : "denied" });
    const spend = db.transaction(() => spendLogin(deviceCode, NOON));
    expect(codeOf((await Promise.allSettled([spend]))[0])).toBe(isApproved ? "done" : "gone");
  });

  test("holds for ten minutes, and no code of another opens it", async () => {
    const db = await temporary();
    const { begin, poll, approve } = await world(db);
    const { deviceCode, userCode } = await begin();
    const last = NOON + LOGIN_MS - 1;
    expect(await db.read(() => findWaitingLogin(userCode, last))).toMatchObject({ clientName: "laptop" });
    await expect(approve("BBBB-BBBB")).rejects.toMatchObject({ code: "not_found" });
    await expect(approve(userCode, last + 1)).rejects.toMatchObject({ code: "not_found" });
    expect(await poll(deviceCode, last + 1)).toBeUndefined();
    expect(await poll(userCode, NOON)).toBeUndefined();
    await expect(db.transaction(() => spendLogin(deviceCode, NOON))).rejects.toMatchObject({ code: "gone" });
  });

  test("of one address ten wait at most, those of others go on, and old ones make room", async () => {
    const db = await temporary();
    const { begin } = await world(db);
    for (let made = 0; made < 10; made += 1) await begin();
    await expect(begin()).rejects.toMatchObject({ code: "rate_limited" });
    await expect(begin(NOON, "192.0.2.8")).resolves.toHaveProperty("userCode");
    await expect(begin(NOON + LOGIN_MS)).resolves.toHaveProperty("userCode");
  });
});
