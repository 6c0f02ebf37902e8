import { hash, randomBytes } from "node:crypto";
import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";
import { getAccount } from "../workspaces/workspace-store.ts";
import type { Account } from "../workspaces/workspace.ts";
import { MINUTE_MS } from "../foundation/time-units.ts";

/** 192 bits, which are 32 characters of base64url. */
const TOKEN_BYTES = 24;
const TOKEN = /^[\w-]{32}$/;
/** The time in which a link can be used. */
const LINK_LIFETIME_MS = 30 * MINUTE_MS;

export interface SignInLink {
  readonly account: Account;
  /** Shown only this once; the database has only its SHA-256. */
  readonly token: string;
  readonly expiresAt: number;
}

/**
 * Makes the token of a link that sets an account's password and signs in, once and within 30 minutes. An earlier link of the account does
 * not work any more.
 *
 * @param reference the account's id or e-mail address. @throws not_found
 */
export function* makeSignInLink(reference: string, now: number): Steps<SignInLink> {
  const account = yield* getAccount(reference);
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const expiresAt = now + LINK_LIFETIME_MS;
  const link = { token_hash: digest(token), expires_at: expiresAt };
  yield* run(
    query
      .insertInto("sign_in_link")
      .values({ account_id: account.id, ...link })
      .onConflict((conflict) => conflict.column("account_id").doUpdateSet(link)),
  );
  return { account, token, expiresAt };
}

/** The account that a link is for; the link is not used up. Undefined if the link is unknown, used or expired. */
export function* findSignInLink(token: string, now: number): Steps<string | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const link = yield* first(
    query
      .selectFrom("sign_in_link")
      .select(["account_id", "expires_at"])
      .where("token_hash", "=", digest(token)),
  );
  return link !== undefined && now < link.expires_at ? link.account_id : undefined;
}

/** Uses a link up. Returns the account that it is for; undefined if the link is unknown, used or expired. */
export function* takeSignInLink(token: string, now: number): Steps<string | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const link = yield* first(
    query
      .deleteFrom("sign_in_link")
      .where("token_hash", "=", digest(token))
      .returning(["account_id", "expires_at"]),
  );
  return link !== undefined && now < link.expires_at ? link.account_id : undefined;
}

function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
