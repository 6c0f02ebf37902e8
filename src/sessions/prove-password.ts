import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { addressUnit } from "../foundation/ip-address.ts";
import { DECOY_HASH, hashSecret, matchesHash } from "../hashing/argon2.ts";
import { createHashGate } from "../hashing/hash-gate.ts";
import { findAccountByEmail } from "../workspaces/workspace-store.ts";
import type { AttemptLimits } from "./attempt-limits.ts";
import { type Credential, findCredential } from "./credential-store.ts";
import { checkPassword, normalisePassword } from "./password.ts";

/** Passwords are hashed outside of transactions, two at a time; callers wait in lines by address, which take turns. */
const PASSWORDS = {
  maxRunning: 2,
  maxWaiting: 64,
  refusal: "Too many people sign in at this moment; try again shortly.",
};

export interface PasswordProver {
  /**
   * The credential that the password belongs to; null if it is wrong, or if there is no account or no password. All of them take the
   * same time. It may have changed by the time it is used: see {@link requireUnchanged}.
   *
   * @throws rate_limited, unavailable
   */
  prove(email: string, password: string, address: string): Promise<Credential | null>;
  /** The hash of a new password. @throws usage when it is too short or too long; unavailable */
  hash(password: string, address: string): Promise<string>;
}

export function createPasswordProver(db: Database, limits: AttemptLimits): PasswordProver {
  const gate = createHashGate(PASSWORDS);
  return {
    async prove(email, password, address) {
      const unit = addressUnit(address);
      const attempt = limits.begin(unit, email.trim().toLowerCase());
      await attempt.turn;
      const credential = await db.read(() => findCredentialOf(email));
      const stored = credential?.passwordHash ?? DECOY_HASH;
      const fits = await gate.enter(unit, () => matchesHash(stored, normalisePassword(password)));
      if (!fits || credential === undefined) return null;
      attempt.succeeded();
      return credential;
    },
    hash(password, address) {
      checkPassword(password);
      return gate.enter(addressUnit(address), () => hashSecret(normalisePassword(password)));
    },
  };
}

/**
 * For the transaction that follows from a proof: neither password nor second factor have changed since then.
 *
 * @throws unauthorized when they have.
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
