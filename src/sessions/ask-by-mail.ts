import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Clock } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { addressUnit, shortenAddress } from "../foundation/ip-address.ts";
import { parseMailAddress } from "../foundation/mail-address.ts";
import { createRateLimiter, type RateLimit, type RateLimiter } from "../foundation/rate-limit.ts";
import type { LetterKind, Letters, WrittenLetter } from "../mail/letters/letters.ts";
import { NO_OPERATOR } from "../workspaces/sign-up.ts";
import { findAccountByEmail, hasAccounts } from "../workspaces/workspace-store.ts";
import { type Account, MAX_EMAIL_LENGTH } from "../workspaces/workspace.ts";
import { accountExistsLetter, resetLetter, signUpLetter } from "./account-letters.ts";
import { makeMailedLink } from "./mailed-link.ts";

/**
 * What anybody may ask for with an e-mail address. The answer comes before the address is looked up, and is the same whether it is known or
 * not. Each method throws usage if the text is not an address; rate_limited; unavailable if too many letters wait.
 */
export interface MailedRequests {
  /** Sends a link that makes an account, or a letter that there already is one. @throws unavailable while there is no account at all. */
  signUp(email: string, address: string): Promise<void>;
  /** Sends a link that sets the password, if there is an account with the address. */
  resetPassword(email: string, address: string): Promise<void>;
}

export interface MailedRequestsParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly letters: Pick<Letters, "send">;
  /** The dashboard's address from the configuration, never from a request. */
  readonly dashboardUrl: string;
  /** Returns monotonic milliseconds. */
  readonly nowMs: () => number;
}

/** The limit of letters that one client may ask for: an IPv4 address, or an IPv6 /64. */
const BY_CLIENT: RateLimit = { max: 10, windowSeconds: 3600 };
/**
 * The limit of letters that one network may ask for (IPv4 /24, IPv6 /48), so that the owner of a /48 does not use up what all clients
 * share.
 */
const BY_NETWORK: RateLimit = { max: 20, windowSeconds: 3600 };
/** The limit for all clients together: letters to sign up go to people who may not have asked for them. */
const SIGN_UPS: RateLimit = { max: 60, windowSeconds: 3600 };

const NO_ADDRESS = "This is not an e-mail address that a mail server takes.";
const FULL = "Too many e-mails wait to be sent. Try again in some minutes.";

export function createMailedRequests(parts: MailedRequestsParts): MailedRequests {
  const { db, clock, letters, dashboardUrl } = parts;
  const limiter = createRateLimiter(parts.nowMs);
  const countClient = (client: string): void => {
    count(limiter, addressUnit(client), BY_CLIENT);
    count(limiter, `network ${shortenAddress(client)}`, BY_NETWORK);
  };
  const ask = (kind: LetterKind, address: string, write: () => Steps<WrittenLetter | null>): void => {
    // The commit need not wait for the disk: if a power cut loses a link, its reader asks again.
    const answer = letters.send({ kind, address, write: () => db.relaxedTransaction(write) });
    // `too many` is not reported, because nobody else may learn how many letters an address got.
    if (answer === "full") throw new FormsvcError("unavailable", FULL, { retryAfterSeconds: 300 });
  };
  return {
    async signUp(given, client) {
      const typed = given.trim();
      const address = mailAddressOf(typed);
      if (!(await db.read(hasAccounts))) throw new FormsvcError("unavailable", NO_OPERATOR);
      countClient(client);
      count(limiter, "everybody", SIGN_UPS);
      ask("sign-up", address, function* () {
        const account = yield* findOwner(address, typed);
        if (account !== undefined) return accountExistsLetter(account, dashboardUrl);
        const token = yield* makeMailedLink("sign-up", address, clock.now());
        return signUpLetter(address, token, dashboardUrl);
      });
    },
    async resetPassword(given, client) {
      const typed = given.trim();
      const address = mailAddressOf(typed);
      countClient(client);
      ask("reset", address, function* () {
        const account = yield* findOwner(address, typed);
        if (account === undefined) return null;
        const token = yield* makeMailedLink("reset", account.email, clock.now());
        return resetLetter(account, token, dashboardUrl);
      });
    },
  };
}

/**
 * Finds the account of an address. The account may have the address in another spelling: with capitals, or with a domain that is not in
 * ASCII.
 */
function* findOwner(address: string, typed: string): Steps<Account | undefined> {
  return (yield* findAccountByEmail(address)) ?? (yield* findAccountByEmail(typed));
}

function mailAddressOf(typed: string): string {
  const address = parseMailAddress(typed);
  if (address === null || address.length > MAX_EMAIL_LENGTH) throw new FormsvcError("usage", NO_ADDRESS);
  return address;
}

function count(limiter: RateLimiter, unit: string, limit: RateLimit): void {
  const state = limiter.count(unit, limit);
  if (state === null || state.allowed) return;
  const minutes = Math.ceil(state.resetSeconds / 60);
  const message = `Too many e-mails were asked for. Try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`;
  throw new FormsvcError("rate_limited", message, { retryAfterSeconds: state.resetSeconds });
}
