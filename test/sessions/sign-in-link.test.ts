import { describe, expect, test } from "vitest";
import { makeSignInLink, takeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

const HALF_HOUR = 30 * MINUTE_MS;

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function withLink() {
    const db = await temporary();
    await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    return { db, ...(await db.transaction(() => makeSignInLink("ana@example.org", NOON))) };
  }

  test("a link has 192 random bits, and the database holds only their hash", async () => {
    const { db, token, expiresAt } = await withLink();
    expect(Buffer.from(token, "base64url")).toHaveLength(24);
    expect(expiresAt).toBe(NOON + HALF_HOUR);
    const [row] = await rowsOf<{ token_hash: Buffer }>(db, "SELECT * FROM sign_in_link");
    expect(row?.token_hash).toHaveLength(32);
    expect(JSON.stringify(row)).not.toContain(token);
    expect(row?.token_hash.includes(token)).toBe(false);
  });

  test("a link works once, for its account", async () => {
    const { db, account, token } = await withLink();
    expect(await db.transaction(() => takeSignInLink(token, NOON))).toBe(account.id);
    expect(await db.transaction(() => takeSignInLink(token, NOON))).toBeUndefined();
  });

  test("of two that use one link at once, one wins", async () => {
    const { db, account, token } = await withLink();
    const taken = await Promise.all([1, 2].map(() => db.transaction(() => takeSignInLink(token, NOON))));
    expect(new Set(taken)).toEqual(new Set([account.id, undefined]));
  });

  test("a link works for 30 minutes and not a millisecond longer", async () => {
    const { db, account, token } = await withLink();
    expect(await db.transaction(() => takeSignInLink(token, NOON + HALF_HOUR))).toBeUndefined();
    const later = await db.transaction(() => makeSignInLink(account.id, NOON));
    expect(await db.transaction(() => takeSignInLink(later.token, NOON + HALF_HOUR - 1))).toBe(account.id);
  });

  test("a new link replaces the earlier one of the same account only", async () => {
    const { db, token } = await withLink();
    const ben = (await db.transaction(() => insertAccountRows("ben@example.org", NOON))).account;
    const his = await db.transaction(() => makeSignInLink("ben@example.org", NOON));
    const newest = await db.transaction(() => makeSignInLink("ana@example.org", NOON));
    expect(await db.transaction(() => takeSignInLink(token, NOON))).toBeUndefined();
    expect(await db.transaction(() => takeSignInLink(newest.token, NOON))).toBeDefined();
    expect(await db.transaction(() => takeSignInLink(his.token, NOON))).toBe(ben.id);
  });

  test("an account that does not exist gets no link, and no text but a token is looked up", async () => {
    const { db, token } = await withLink();
    await expect(db.transaction(() => makeSignInLink("nobody@example.org", NOON))).rejects.toThrow(
      expect.objectContaining({ code: "not_found" }) as Error,
    );
    for (const wrong of ["", `${token}A`, token.slice(1), "*".repeat(32)])
      expect(await db.transaction(() => takeSignInLink(wrong, NOON))).toBeUndefined();
  });
});
