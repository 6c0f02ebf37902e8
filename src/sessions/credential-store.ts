import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import type { PasswordUse } from "./password.ts";
import { dropResetLink } from "./mailed-link.ts";
import { isAnybodyBound } from "./oidc-store.ts";
import type { StoredSecret } from "../secrets/stored-secret.ts";
import { findAccount } from "../workspaces/workspace-store.ts";

/** The password and the authenticator app of an account. */
export interface Credential {
  readonly accountId: string;
  /** argon2id in PHC format. */
  readonly passwordHash: string;
  /** As it is stored, encrypted or not; null if the account has no app. */
  readonly totpSecret: Buffer | null;
  /** When the password or the second factor last changed. */
  readonly changedAt: number;
}

/** Undefined if the account has never set a password. */
export function* findCredential(accountId: string): Steps<Credential | undefined> {
  const row = yield* first(query.selectFrom("credential").selectAll().where("account_id", "=", accountId));
  return (
    row && {
      accountId,
      passwordHash: row.password_hash,
      totpSecret: row.totp_secret,
      changedAt: row.changed_at,
    }
  );
}

/** Whether any account has a password that may be used, or has signed in by an issuer. Until then nobody can sign in. */
export function* canAnybodySignIn(passwords: PasswordUse): Steps<boolean> {
  if (yield* isAnybodyBound()) return true;
  if (passwords === "off") return false;
  return (yield* first(query.selectFrom("credential").select("account_id").limit(1))) !== undefined;
}

/** Sets the password. The second factor stays. */
export function* storePassword(accountId: string, passwordHash: string, now: number): Steps<void> {
  const set = { password_hash: passwordHash, changed_at: now };
  yield* run(
    query
      .insertInto("credential")
      .values({ account_id: accountId, ...set })
      .onConflict((conflict) => conflict.column("account_id").doUpdateSet(set)),
  );
}

/** Deletes the password and the app. */
export function* dropCredential(accountId: string): Steps<void> {
  yield* run(query.deleteFrom("credential").where("account_id", "=", accountId));
}

/** Sets the authenticator app. @param stored the encrypted secret. @param step the step of the code that proved it. */
export function* storeTotp(accountId: string, stored: Buffer, step: number, now: number): Steps<void> {
  yield* run(
    query
      .updateTable("credential")
      .set({ totp_secret: stored, totp_step: step, changed_at: now })
      .where("account_id", "=", accountId),
  );
}

/**
 * Notes that the second factor changed, so that earlier proofs do not count any more. An account without a password has no row that could say
 * when, so the link of a letter is deleted.
 */
export function* noteFactorChanged(accountId: string, now: number): Steps<void> {
  const account = yield* findAccount(accountId);
  if (account !== undefined) yield* dropResetLink(account.email);
  yield* run(query.updateTable("credential").set({ changed_at: now }).where("account_id", "=", accountId));
}

/** Removes the app. Returns whether there was one. */
export function* clearTotp(accountId: string, now: number): Steps<boolean> {
  const changed = yield* run(
    query
      .updateTable("credential")
      .set({ totp_secret: null, totp_step: null, changed_at: now })
      .where("account_id", "=", accountId)
      .where("totp_secret", "is not", null),
  );
  return changed > 0;
}

/** Uses up the codes of a step and of earlier ones. Returns false if they were used up already. */
export function* takeStep(accountId: string, step: number): Steps<boolean> {
  const changed = yield* run(
    query
      .updateTable("credential")
      .set({ totp_step: step })
      .where("account_id", "=", accountId)
      .where((eb) => eb.or([eb("totp_step", "is", null), eb("totp_step", "<", step)])),
  );
  return changed > 0;
}

/** Replaces all recovery codes. @param hashes the SHA-256 of each code. */
export function* storeRecoveryCodes(accountId: string, hashes: readonly Buffer[]): Steps<void> {
  yield* run(query.deleteFrom("recovery_code").where("account_id", "=", accountId));
  const rows = hashes.map((hash) => ({ account_id: accountId, hash }));
  yield* run(query.insertInto("recovery_code").values(rows));
}

export function* dropRecoveryCodes(accountId: string): Steps<void> {
  yield* run(query.deleteFrom("recovery_code").where("account_id", "=", accountId));
}

/** Uses up a recovery code. Returns false if there is none with this hash. */
export function* takeRecoveryCode(accountId: string, hash: Buffer): Steps<boolean> {
  const own = query.deleteFrom("recovery_code").where("account_id", "=", accountId);
  return (yield* run(own.where("hash", "=", hash))) > 0;
}

export function* countRecoveryCodes(accountId: string): Steps<number> {
  return (yield* all(query.selectFrom("recovery_code").select("hash").where("account_id", "=", accountId)))
    .length;
}

/** The secrets of authenticator apps, as {@link StoredSecret}. */
export function* listTotpSecrets(): Steps<StoredSecret[]> {
  const rows = yield* all(
    query.selectFrom("credential").select(["account_id", "totp_secret"]).where("totp_secret", "is not", null),
  );
  return rows.map(({ account_id: accountId, totp_secret }) => ({
    context: totpContext(accountId),
    stored: totp_secret ?? Buffer.alloc(0),
    replace: (stored) =>
      run(query.updateTable("credential").set({ totp_secret: stored }).where("account_id", "=", accountId)),
  }));
}

/** The context that the secret is encrypted with. It is part of the encryption, so the text must never change. */
export function totpContext(accountId: string): string {
  return `credential.totp_secret of ${accountId}`;
}
