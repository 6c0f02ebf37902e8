import { hash, randomBytes } from "node:crypto";
import { query } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { first, run, type Steps, text, textByEngine } from "../database/steps.ts";
import { DAY_MS, HOUR_MS } from "../foundation/time-units.ts";

/** The purpose of a link in a letter: to make an account for its address, or to set a new password of the account with its address. */
export type LinkPurpose = "sign-up" | "reset";

/** The link that a token belongs to. */
export interface MailedLink {
  /** The address; whoever has the token reads its mail. */
  readonly email: string;
  readonly madeAt: number;
}

/** 256 bits, which are 43 characters of base64url. */
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;
/** The time in which a link can be used. */
const MAILED_LINK_LIFETIME_MS = { "sign-up": DAY_MS, reset: HOUR_MS } as const;
/** The largest number of links of one purpose that are kept; beyond it the oldest are deleted. */
export const MAX_MAILED_LINKS = 2000;
/** The largest number of rows that one transaction deletes. */
const BATCH_SIZE = 500;

const DROP_EARLIER_SQL = "DELETE FROM mailed_link WHERE purpose = ? AND lower(email) = lower(?)";
const DROP_SURPLUS_SQL = deleteSome(
  "mailed_link",
  ["token_hash"],
  (hash) => `SELECT ${hash} FROM mailed_link WHERE purpose = ? ORDER BY created_at DESC LIMIT ? OFFSET ?`,
);
const DROP_OLD_SQL = deleteSome(
  "mailed_link",
  ["token_hash"],
  (hash) => `SELECT ${hash} FROM mailed_link WHERE purpose = 'sign-up' AND created_at <= ?
    OR purpose = 'reset' AND created_at <= ? LIMIT ?`,
);

/** Ends the link with which the password of the account with this address can be reset. */
export function dropResetLink(email: string): Steps<number> {
  return run(text(DROP_EARLIER_SQL, "reset", email));
}

/** Makes a link and returns its token. An earlier link with the same address and purpose does not work any more. */
export function* makeMailedLink(purpose: LinkPurpose, email: string, now: number): Steps<string> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  yield* run(text(DROP_EARLIER_SQL, purpose, email));
  const link = { token_hash: digest(token), purpose, email, created_at: now };
  yield* run(query.insertInto("mailed_link").values(link));
  yield* run(textByEngine(DROP_SURPLUS_SQL, purpose, BATCH_SIZE, MAX_MAILED_LINKS));
  return token;
}

/** Undefined if the token is unknown, used, replaced or expired. The link is not used up. */
export function* findMailedLink(
  purpose: LinkPurpose,
  token: string,
  now: number,
): Steps<MailedLink | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const links = query.selectFrom("mailed_link").select(["email", "created_at"]);
  const row = yield* first(links.where("purpose", "=", purpose).where("token_hash", "=", digest(token)));
  return row && usable(purpose, row, now);
}

/** Uses a link up. Undefined as for {@link findMailedLink}. */
export function* takeMailedLink(
  purpose: LinkPurpose,
  token: string,
  now: number,
): Steps<MailedLink | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const links = query.deleteFrom("mailed_link").where("purpose", "=", purpose);
  const row = yield* first(links.where("token_hash", "=", digest(token)).returning(["email", "created_at"]));
  return row && usable(purpose, row, now);
}

function usable(
  purpose: LinkPurpose,
  { email, created_at: madeAt }: { email: string; created_at: number },
  now: number,
): MailedLink | undefined {
  return now < madeAt + MAILED_LINK_LIFETIME_MS[purpose] ? { email, madeAt } : undefined;
}

/** Deletes up to 500 links that have expired. Returns the number deleted. */
export function dropOldMailedLinks(now: number): Steps<number> {
  const [ofSignUp, ofReset] = [now - MAILED_LINK_LIFETIME_MS["sign-up"], now - MAILED_LINK_LIFETIME_MS.reset];
  return run(textByEngine(DROP_OLD_SQL, ofSignUp, ofReset, BATCH_SIZE));
}

function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
