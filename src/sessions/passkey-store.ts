import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { newId } from "../foundation/id.ts";

/** A key with which a device signs in (WebAuthn). */
export interface Passkey {
  /** Our id. */
  readonly id: string;
  readonly accountId: string;
  /** The device's id, base64url. */
  readonly credentialId: string;
  /** The host for which it was made; it works for no other host. */
  readonly host: string;
  /** The public key in COSE format. */
  readonly publicKey: Buffer;
  /** The device's count of uses; 0 if the device does not count. */
  readonly counter: number;
  readonly name: string;
  readonly createdAt: number;
  readonly usedAt: number | null;
}

/** A passkey that a device has just made. */
export type NewPasskey = Pick<Passkey, "credentialId" | "host" | "publicKey" | "counter">;

/** The passkeys of an account, the oldest first. */
export function* listPasskeys(accountId: string): Steps<Passkey[]> {
  const own = query.selectFrom("passkey").selectAll().where("account_id", "=", accountId);
  return (yield* all(own.orderBy("created_at").orderBy("id"))).map(toPasskey);
}

export function* hasPasskeys(accountId: string): Steps<boolean> {
  const own = query.selectFrom("passkey").select("id").where("account_id", "=", accountId);
  return (yield* first(own.limit(1))) !== undefined;
}

/** The passkey with the id that a device names; undefined if there is none. */
export function* findPasskeyOf(credentialId: string): Steps<Passkey | undefined> {
  const named = query.selectFrom("passkey").selectAll();
  const row = yield* first(named.where("credential_id", "=", Buffer.from(credentialId, "base64url")));
  return row && toPasskey(row);
}

/** Adds a passkey and returns its id. The caller has checked that no account has it. */
export function* insertPasskeyRow(
  accountId: string,
  made: NewPasskey,
  name: string,
  now: number,
): Steps<string> {
  const id = newId("pky", now);
  yield* run(
    query.insertInto("passkey").values({
      id,
      account_id: accountId,
      credential_id: Buffer.from(made.credentialId, "base64url"),
      host: made.host,
      public_key: made.publicKey,
      counter: made.counter,
      name,
      created_at: now,
      used_at: null,
    }),
  );
  return id;
}

/** Renames a passkey. Returns whether the account has it. */
export function* renamePasskeyRow(accountId: string, id: string, name: string): Steps<boolean> {
  const own = query.updateTable("passkey").set({ name }).where("account_id", "=", accountId);
  return (yield* run(own.where("id", "=", id))) > 0;
}

/** Notes a use. Returns false if the passkey was removed, or if a copy of it was used at the same time. */
export function* noteUse(id: string, counter: number, now: number): Steps<boolean> {
  const used = query.updateTable("passkey").set({ counter, used_at: now }).where("id", "=", id);
  const isNewer = used.where((eb) => (counter === 0 ? eb("counter", "=", 0) : eb("counter", "<", counter)));
  return (yield* run(isNewer)) > 0;
}

/** Removes one passkey of an account, or all of them if `id` is null. Returns the number removed. */
export function* dropPasskeyRows(accountId: string, id: string | null): Steps<number> {
  const own = query.deleteFrom("passkey").where("account_id", "=", accountId);
  return yield* run(id === null ? own : own.where("id", "=", id));
}

/** Uses up the answer to a challenge. Returns false if it was already used up. @param hash the SHA-256 of the challenge. */
export function* spendChallenge(hash: Buffer, expiresAt: number, now: number): Steps<boolean> {
  yield* run(query.deleteFrom("spent_challenge").where("expires_at", "<=", now));
  const spent = query.insertInto("spent_challenge").values({ hash, expires_at: expiresAt });
  return (yield* run(spent.onConflict((conflict) => conflict.column("hash").doNothing()))) > 0;
}

function toPasskey(row: Selectable<Tables["passkey"]>): Passkey {
  return {
    id: row.id,
    accountId: row.account_id,
    credentialId: row.credential_id.toString("base64url"),
    host: row.host,
    publicKey: row.public_key,
    counter: row.counter,
    name: row.name,
    createdAt: row.created_at,
    usedAt: row.used_at,
  };
}
