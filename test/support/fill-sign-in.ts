import { query } from "../../src/database/database.ts";
import { run, type Steps } from "../../src/database/steps.ts";
import { newId } from "../../src/foundation/id.ts";
import { NOON } from "./fake-clock.ts";

/** Stores a row for every way in which an account signs in or proves who it is. */
export function* fillSignIn(accountId: string, hostile: string): Steps<void> {
  yield* run(
    query.insertInto("credential").values({
      account_id: accountId,
      password_hash: "$argon2id$",
      totp_secret: Buffer.from([0, 255, 39, 92]),
      totp_step: 59_000_000,
      changed_at: NOON,
    }),
  );
  yield* run(query.insertInto("recovery_code").values({ account_id: accountId, hash: Buffer.alloc(32, 7) }));
  yield* run(
    query.insertInto("passkey").values({
      id: newId("pky", NOON),
      account_id: accountId,
      credential_id: Buffer.from([0, 255, 39, 92]),
      host: "forms.example.com",
      public_key: Buffer.alloc(77, 8),
      counter: 4_294_967_295,
      name: hostile,
      created_at: NOON,
      used_at: null,
    }),
  );
  yield* run(query.insertInto("spent_challenge").values({ hash: Buffer.alloc(32, 3), expires_at: NOON }));
  yield* run(
    query
      .insertInto("sign_in_link")
      .values({ account_id: accountId, token_hash: Buffer.alloc(32), expires_at: NOON }),
  );
  yield* run(
    query.insertInto("mailed_link").values({
      token_hash: Buffer.alloc(32, 4),
      purpose: "reset",
      email: "Ana@Example.org",
      created_at: NOON,
    }),
  );
  yield* run(
    query.insertInto("session").values({
      id: newId("ses", NOON),
      account_id: accountId,
      secret_hash: Buffer.alloc(32, 1),
      created_at: NOON,
      seen_at: NOON,
      user_agent: hostile,
      ip_address: null,
      issuer: null,
    }),
  );
  yield* run(
    query
      .insertInto("oidc_binding")
      .values({ issuer: "i", subject: hostile, account_id: accountId, bound_at: NOON }),
  );
  yield* run(query.insertInto("sign_in_key").values({ id: 1, key: Buffer.alloc(32, 5) }));
  yield* run(
    query
      .insertInto("known_address")
      .values({ account_id: accountId, address_hash: Buffer.alloc(32, 6), seen_at: NOON }),
  );
}
