import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
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
  totpPlace,
} from "../../src/sessions/credential-store.ts";
import { createAccount } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

function withAccount() {
  const db = temporaryDatabase();
  return { db, id: db.now(() => createAccount("ana@example.org", NOON)).account.id };
}

test("nobody can sign in until an account has a password, and a new one leaves the second factor", () => {
  const { db, id } = withAccount();
  expect(db.now(() => canAnybodySignIn())).toBe(false);
  expect(db.now(() => findCredential(id))).toBeUndefined();
  db.now(() => storePassword(id, "first", NOON));
  expect(db.now(() => canAnybodySignIn())).toBe(true);
  db.now(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
  db.now(() => storePassword(id, "second", NOON + 1));
  expect(db.now(() => findCredential(id))).toEqual({
    accountId: id,
    passwordHash: "second",
    totpSecret: Buffer.from("secret"),
    changedAt: NOON + 1,
  });
});

test("a step is used up with all before it", () => {
  const { db, id } = withAccount();
  db.now(() => storePassword(id, "hash", NOON));
  db.now(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
  const took = [4, 5, 7, 6, 7, 8].map((step) => db.now(() => takeStep(id, step)));
  expect(took).toEqual([false, false, true, false, false, true]);
});

test("a recovery code is used up, and all of them go with the second factor", () => {
  const { db, id } = withAccount();
  const hashes = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
  db.now(() => storePassword(id, "hash", NOON));
  expect(db.now(() => clearTotp(id, NOON))).toBe(false);
  db.now(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
  db.now(() => storeRecoveryCodes(id, hashes));
  const take = (hash: Buffer) => db.now(() => takeRecoveryCode(id, hash));
  expect([take(hashes[0]!), take(hashes[0]!), take(Buffer.alloc(32, 9))]).toEqual([true, false, false]);
  expect(db.now(() => countRecoveryCodes(id))).toBe(2);
  expect(db.now(() => clearTotp(id, NOON))).toBe(true);
  expect(db.now(() => countRecoveryCodes(id))).toBe(0);
  expect(db.now(() => findCredential(id))?.totpSecret).toBeNull();
});

test("the secret of a second factor is among those that a key file encrypts", () => {
  const { db, id } = withAccount();
  const keyring = createKeyring({ keyFile: null, key: randomBytes(32).toString("base64") });
  db.now(() => storePassword(id, "hash", NOON));
  expect(db.now(() => encryptSome([listTotpSecrets], keyring))).toBe(0);
  db.now(() => storeTotp(id, Buffer.from("secret"), 5, NOON));
  expect(db.now(() => encryptSome([listTotpSecrets], keyring))).toBe(1);
  expect([...db.now(() => countSecrets([listTotpSecrets]))]).toEqual([[keyring.ids()[0], 1]]);
  const stored = db.now(() => findCredential(id))?.totpSecret ?? Buffer.alloc(0);
  expect(keyring.open(stored, totpPlace(id)).toString()).toBe("secret");
});
