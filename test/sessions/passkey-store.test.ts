import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { noteFactorChanged, storeRecoveryCodes } from "../../src/sessions/credential-store.ts";
import { findMailedLink, makeMailedLink } from "../../src/sessions/mailed-link.ts";
import {
  dropPasskeyRows,
  findPasskeyOf,
  insertPasskeyRow,
  listPasskeys,
  noteUse,
  renamePasskeyRow,
  spendChallenge,
} from "../../src/sessions/passkey-store.ts";
import { dropCodesOfNothing, findSecondFactors } from "../../src/sessions/second-factor.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";

const MADE = {
  credentialId: Buffer.from([0, 255, 1]).toString("base64url"),
  host: "forms.example.com",
  publicKey: Buffer.from([9, 0]),
  counter: 5,
};

async function withPasskey(db: Database) {
  return db.transaction(function* () {
    const { id: accountId } = (yield* insertAccountRows("ana@example.org", NOON)).account;
    return { accountId, id: yield* insertPasskeyRow(accountId, MADE, "Laptop", NOON) };
  });
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a passkey is found as it was made, and only its account renames or removes it", async () => {
    const db = await temporary();
    const { accountId, id } = await withPasskey(db);
    const expected = { ...MADE, id, accountId, name: "Laptop", createdAt: NOON, usedAt: null };
    expect(await db.read(() => findPasskeyOf(MADE.credentialId))).toEqual(expected);
    expect(await db.read(() => listPasskeys(accountId))).toEqual([expected]);
    expect(await db.transaction(() => renamePasskeyRow("acct_other", id, "Mine"))).toBe(false);
    expect(await db.transaction(() => dropPasskeyRows("acct_other", id))).toBe(0);
    expect(await db.transaction(() => renamePasskeyRow(accountId, id, "Old laptop"))).toBe(true);
    expect(await rowsOf(db, "SELECT name FROM passkey")).toEqual([{ name: "Old laptop" }]);
    expect(await db.transaction(() => dropPasskeyRows(accountId, id))).toBe(1);
  });

  test("a count of uses only grows, and a device that does not count is taken as often as it comes", async () => {
    const db = await temporary();
    const { accountId, id } = await withPasskey(db);
    const uses = [6, 6, 5, 0, 4_294_967_295].map((count) => () => noteUse(id, count, NOON));
    const taken: boolean[] = [];
    for (const use of uses) taken.push(await db.transaction(use));
    expect(taken).toEqual([true, false, false, false, true]);
    const uncounted = { ...MADE, credentialId: "AAAA", counter: 0 };
    const other = await db.transaction(() => insertPasskeyRow(accountId, uncounted, "Phone", NOON));
    expect(await db.transaction(() => noteUse(other, 0, NOON))).toBe(true);
    expect(await db.transaction(() => noteUse(other, 0, NOON))).toBe(true);
  });

  test("a challenge is spent once, by whoever comes first, and forgotten when nobody can answer it any more", async () => {
    const db = await temporary();
    const spend = (byte: number, now: number) =>
      db.transaction(() => spendChallenge(Buffer.alloc(32, byte), NOON + 1000, now));
    const spent = await Promise.all([spend(1, NOON), spend(1, NOON), spend(1, NOON), spend(2, NOON)]);
    expect(spent.filter(Boolean)).toHaveLength(2);
    expect(await spend(1, NOON + 999)).toBe(false);
    await spend(3, NOON + 1000);
    expect(await rowsOf(db, "SELECT count(*) AS count FROM spent_challenge")).toEqual([{ count: 1 }]);
  });

  test("recovery codes stand in for a passkey of an account without a password, and go with the last one", async () => {
    const db = await temporary();
    const { accountId, id } = await withPasskey(db);
    await db.transaction(() => storeRecoveryCodes(accountId, [Buffer.alloc(32, 1)]));
    const factors = () => db.read(() => findSecondFactors(accountId));
    const codes = () => rowsOf(db, "SELECT count(*) AS count FROM recovery_code");
    await db.transaction(() => dropCodesOfNothing(accountId));
    expect([await factors(), await codes()]).toEqual([{ app: false, passkeys: true }, [{ count: 1 }]]);
    await db.transaction(() => dropPasskeyRows(accountId, id));
    await db.transaction(() => dropCodesOfNothing(accountId));
    expect([await factors(), await codes()]).toEqual([null, [{ count: 0 }]]);
  });

  test("a link that resets the password is worth nothing after a passkey changed, also if the account never had a password", async () => {
    const db = await temporary();
    const { accountId } = await withPasskey(db);
    const [own, others] = await db.transaction(function* () {
      yield* insertAccountRows("bo@example.org", NOON);
      const made = yield* makeMailedLink("reset", "Ana@example.org", NOON);
      return [made, yield* makeMailedLink("reset", "bo@example.org", NOON)];
    });
    const works = (token: string) => db.read(() => findMailedLink("reset", token, NOON + 1));
    expect(await works(own ?? "")).toBeDefined();
    await db.transaction(() => noteFactorChanged(accountId, NOON + 1));
    expect([await works(own ?? ""), (await works(others ?? ""))?.email]).toEqual([
      undefined,
      "bo@example.org",
    ]);
  });
});
