import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { Semaphore } from "../foundation/semaphore.ts";
import { DECOY_HASH, hashSecret, matchesHash } from "../hashing/argon2.ts";
import { findAccountByEmail } from "../workspaces/workspace-store.ts";
import { type AttemptLimits, lineOf, TOO_MANY_WAIT, type Trier } from "./attempt-limits.ts";
import { type Credential, findCredential } from "./credential-store.ts";
import { checkPassword, normalisePassword } from "./password.ts";

/**
 * Passwords are hashed outside of transactions: one of a stranger and one of a known client at a time. Callers wait in lines that take
 * turns: strangers in a line for each network, known clients in one for each account.
 */
const PASSWORDS = { maxRunning: 1, maxWaiting: 64, refusal: TOO_MANY_WAIT };

export interface PasswordProver {
  /**
   * The credential of the account if the password is right; null if it is wrong, or if there is no account or no password. All of these
   * take the same time. The credential may change before it is used: see {@link requireUnchanged}.
   *
   * @throws rate_limited, unavailable
   */
  prove(email: string, password: string, trier: Trier): Promise<Credential | null>;
  /** The hash of a new password. @throws usage if it is too short or too long; unavailable. */
  hash(password: string, trier: Trier): Promise<string>;
}

export function createPasswordProver(db: Database, limits: AttemptLimits): PasswordProver {
  const strangers = new Semaphore(PASSWORDS);
  const acquaintances = new Semaphore(PASSWORDS);
  const oneAfterOther = <Result>(trier: Trier, work: () => Promise<Result>): Promise<Result> =>
    (trier.known === null ? strangers : acquaintances).run(work, lineOf(trier));
  return {
    async prove(email, password, trier) {
      const attempt = limits.begin(trier, email.trim().toLowerCase());
      await attempt.admitted;
      const credential = await db.read(() => findCredentialOf(email));
      const stored = credential?.passwordHash ?? DECOY_HASH;
      const fits = await oneAfterOther(trier, () => matchesHash(stored, normalisePassword(password)));
      if (!fits || credential === undefined) return null;
      attempt.succeeded();
      return credential;
    },
    hash(password, trier) {
      checkPassword(password);
      return oneAfterOther(trier, () => hashSecret(normalisePassword(password)));
    },
  };
}

/**
 * Checks that neither the password nor the second factor have changed since the proof. Call in the transaction that follows from it.
 *
 * @throws unauthorized if they have changed.
 */
export function* requireUnchanged({ accountId, passwordHash, changedAt }: Credential): Steps<void> {
  const current = yield* findCredential(accountId);
  if (current?.passwordHash === passwordHash && current.changedAt === changedAt) return;
  throw new FormsvcError(
    "unauthorized",
    "The password or the second factor was just changed. Sign in again.",
  );
}

function* findCredentialOf(email: string): Steps<Credential | undefined> {
  const account = yield* findAccountByEmail(email);
  return account && (yield* findCredential(account.id));
}
