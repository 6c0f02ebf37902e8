import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { countSecrets, encryptSome } from "../../src/secrets/stored-secret.ts";
import {
  canAnybodySignIn,
  clearTotp,
  countRecoveryCodes,
  findCredential,
  listTotpSecrets,
  storePassword,
  storeRecoveryCodes,
  storeTotp,
  takeRecoveryCode,
  takeStep,
  totpContext,
} from "../../src/sessions/credential-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { dropCodesOfNothing } from "../../src/sessions/second-factor.ts";

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function withAccount() {
    const db = await temporary();
    return { db, id: (await db.transaction(() => insertAccountRows("ana@example.org", NOON))).account.id };
  }

  test("nobody can sign in until an account has a password, and a new one leaves the second factor", async () => {
    const { db, id } = await withAccount();
    expect(await db.transaction(() => canAnybodySignIn("on"))).toBe(false);
    expect(await db.transaction(() => findCredential(id))).toBeUndefined();
    await db.transaction(() => storePassword(id, "first", NOON));
    expect(await db.transaction(() => canAnybodySignIn("on"))).toBe(true);
    await db.transaction(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
    await db.transaction(() => storePassword(id, "second", NOON + 1));
    expect(await db.transaction(() => findCredential(id))).toEqual({
      accountId: id,
      passwordHash: "second",
      totpSecret: Buffer.from("secret"),
      changedAt: NOON + 1,
    });
  });

  test("a step is used up with all before it", async () => {
    const { db, id } = await withAccount();
    await db.transaction(() => storePassword(id, "hash", NOON));
    await db.transaction(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
    const took: boolean[] = [];
    for (const step of [4, 5, 7, 6, 7, 8]) took.push(await db.transaction(() => takeStep(id, step)));
    expect(took).toEqual([false, false, true, false, false, true]);
  });

  test("a recovery code is used up, and all of them go with the second factor", async () => {
    const { db, id } = await withAccount();
    const hashes = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
    await db.transaction(() => storePassword(id, "hash", NOON));
    expect(await db.transaction(() => clearTotp(id, NOON))).toBe(false);
    await db.transaction(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
    await db.transaction(() => storeRecoveryCodes(id, hashes));
    const take = (hash: Buffer) => db.transaction(() => takeRecoveryCode(id, hash));
    expect(await take(hashes[0]!)).toBe(true);
    expect(await take(hashes[0]!)).toBe(false);
    expect(await take(Buffer.alloc(32, 9))).toBe(false);
    expect(await db.transaction(() => countRecoveryCodes(id))).toBe(2);
    expect(await db.transaction(() => clearTotp(id, NOON))).toBe(true);
    await db.transaction(() => dropCodesOfNothing(id));
    expect(await db.transaction(() => countRecoveryCodes(id))).toBe(0);
    expect((await db.transaction(() => findCredential(id)))?.totpSecret).toBeNull();
  });

  test("the secret of a second factor is among those that a key file encrypts", async () => {
    const { db, id } = await withAccount();
    const keyring = createKeyring({ keyFile: null, key: randomBytes(32).toString("base64") });
    await db.transaction(() => storePassword(id, "hash", NOON));
    expect(await db.transaction(() => encryptSome([listTotpSecrets], keyring))).toBe(0);
    await db.transaction(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
    expect(await db.transaction(() => encryptSome([listTotpSecrets], keyring))).toBe(1);
    expect([...(await db.transaction(() => countSecrets([listTotpSecrets])))]).toEqual([
      [keyring.ids()[0], 1],
    ]);
    const stored = (await db.transaction(() => findCredential(id)))?.totpSecret ?? Buffer.alloc(0);
    expect(keyring.open(stored, totpContext(id)).toString()).toBe("secret");
  });
});
