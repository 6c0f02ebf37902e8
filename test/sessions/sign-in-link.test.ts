import { expect, test } from "vitest";
import { makeSignInLink, takeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { createAccount } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";

const HALF_HOUR = 30 * 60_000;

function withLink() {
  const db = temporaryDatabase();
  db.now(() => createAccount("ana@example.org", NOON));
  return { db, ...db.now(() => makeSignInLink("ana@example.org", NOON)) };
}

test("a link has 192 random bits, and the database holds only their hash", () => {
  const { db, token, expiresAt } = withLink();
  expect(Buffer.from(token, "base64url")).toHaveLength(24);
  expect(expiresAt).toBe(NOON + HALF_HOUR);
  const row = db.prepare("SELECT hex(token_hash) AS hash, * FROM sign_in_link").get();
  expect(JSON.stringify(row)).not.toContain(token);
  expect(JSON.stringify(row)).not.toContain(Buffer.from(token).toString("hex").toUpperCase());
});

test("a link works once, for its account", () => {
  const { db, account, token } = withLink();
  expect(db.now(() => takeSignInLink(token, NOON))).toBe(account.id);
  expect(db.now(() => takeSignInLink(token, NOON))).toBeUndefined();
});

test("of two processes that use one link, one wins", () => {
  const { db, account, token } = withLink();
  const other = openForTest(db.path);
  const taken = [db, other].map((each) => each.now(() => takeSignInLink(token, NOON)));
  expect(taken).toEqual([account.id, undefined]);
});

test("a link works for 30 minutes and not a millisecond longer", () => {
  const { db, account, token } = withLink();
  expect(db.now(() => takeSignInLink(token, NOON + HALF_HOUR))).toBeUndefined();
  const later = db.now(() => makeSignInLink(account.id, NOON));
  expect(db.now(() => takeSignInLink(later.token, NOON + HALF_HOUR - 1))).toBe(account.id);
});

test("a new link replaces the earlier one of the same account only", () => {
  const { db, token } = withLink();
  const ben = db.now(() => createAccount("ben@example.org", NOON)).account;
  const his = db.now(() => makeSignInLink("ben@example.org", NOON));
  const newest = db.now(() => makeSignInLink("ana@example.org", NOON));
  expect(db.now(() => takeSignInLink(token, NOON))).toBeUndefined();
  expect(db.now(() => takeSignInLink(newest.token, NOON))).toBeDefined();
  expect(db.now(() => takeSignInLink(his.token, NOON))).toBe(ben.id);
});

test("an account that does not exist gets no link, and no text but a token is looked up", () => {
  const { db, token } = withLink();
  expect(() => db.now(() => makeSignInLink("nobody@example.org", NOON))).toThrow(
    expect.objectContaining({ code: "not_found" }) as Error,
  );
  for (const wrong of ["", `${token}A`, token.slice(1), "*".repeat(32)])
    expect(db.now(() => takeSignInLink(wrong, NOON))).toBeUndefined();
});
