import { recordChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Clock } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { sessionEnded } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import {
  clearTotp,
  type Credential,
  storePassword,
  storeRecoveryCodes,
  storeTotp,
  totpPlace,
} from "./credential-store.ts";
import type { Trier } from "./attempt-limits.ts";
import type { SecurityChange } from "./account-letters.ts";
import { type PasswordProver, requireUnchanged } from "./prove-password.ts";
import { digestOf, newRecoveryCodes } from "./second-factor.ts";
import { endOtherSessions, type Viewer } from "./session.ts";
import type { TellOwner } from "./tell-owner.ts";
import { findStep, readTotpSecret } from "./totp.ts";

/** Somebody who is signed in and proves again who they are: a session alone changes nothing that signs in. */
export interface Proof {
  readonly viewer: Viewer;
  /** The present one. */
  readonly password: string;
  /** The client's, canonical. */
  readonly address: string;
}

/**
 * What somebody changes about their own sign-in. Each ends the other sessions of the account, and throws unauthorized when the
 * password is wrong; rate_limited; unavailable.
 */
export interface AccountSecurity {
  /** @throws usage when the new one is too short or too long. */
  changePassword(proof: Proof, newPassword: string): Promise<void>;
  /**
   * Sets the second factor, which an app proves to have. @param secret as it was shown. @param code that the app shows.
   *
   * @returns the recovery codes, shown this once. @throws usage when the code is not of this secret; conflict when there is a
   *   second factor already.
   */
  confirmTotp(proof: Proof, secret: string, code: string): Promise<readonly string[]>;
  /** Makes the earlier recovery codes worthless. @returns the new ones. @throws conflict when there is no second factor. */
  renewRecoveryCodes(proof: Proof): Promise<readonly string[]>;
  /** @throws conflict when there is no second factor. */
  removeTotp(proof: Proof): Promise<void>;
}

export interface AccountSecurityParts {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly prover: PasswordProver;
  readonly clock: Clock;
  readonly log: Log;
  readonly tellOwner: TellOwner;
}

const NO_FACTOR = "There is no second factor.";

export function createAccountSecurity({
  db,
  keyring,
  prover,
  clock,
  log,
  tellOwner,
}: AccountSecurityParts): AccountSecurity {
  /** Proves, then makes the change, ends the other sessions and records it, all or nothing. */
  const change = async <Result>(
    { viewer, password, address }: Proof,
    action: SecurityChange,
    work: (credential: Credential, now: number) => Steps<Result>,
  ): Promise<Result> => {
    const proved = await prover.prove(viewer.email, password, trierOf({ viewer, address }));
    if (proved?.accountId !== viewer.accountId)
      throw new FormsvcError("unauthorized", "The present password is not right.");
    const now = clock.now();
    const done = await db.transaction(function* () {
      yield* requireUnchanged(proved);
      const result = yield* work(proved, now);
      const ended = yield* endOtherSessions(viewer.accountId, viewer.sessionId);
      const what = { action, subject: viewer.email, workspaceId: null, detail: null };
      yield* recordChange(viewer, what, now);
      yield* tellOwner.write(viewer.email, action, now);
      return { result, ended };
    });
    const { accountId } = viewer;
    tellOwner.send();
    if (done.ended > 0) sessionEnded(log, { accountId, sessions: done.ended });
    return done.result;
  };
  return {
    async changePassword(proof, newPassword) {
      const passwordHash = await prover.hash(newPassword, trierOf(proof));
      await change(proof, "account.set-password", ({ accountId }, now) =>
        storePassword(accountId, passwordHash, now),
      );
    },
    confirmTotp: (proof, text, code) =>
      change(proof, "account.set-totp", function* ({ accountId, totpSecret }, now) {
        if (totpSecret !== null)
          throw new FormsvcError("conflict", "There is a second factor already. Remove it first.");
        const secret = readTotpSecret(text);
        const step = secret && findStep(secret, code.replace(/\s/g, ""), now);
        if (secret === null || step === undefined || step === null)
          throw new FormsvcError("usage", "The code is not right. Enter the one that the app shows now.");
        yield* storeTotp(accountId, keyring.seal(secret, totpPlace(accountId)), step, now);
        return yield* giveCodes(accountId);
      }),
    renewRecoveryCodes: (proof) =>
      change(proof, "account.renew-codes", function* ({ accountId, totpSecret }) {
        if (totpSecret === null) throw new FormsvcError("conflict", NO_FACTOR);
        return yield* giveCodes(accountId);
      }),
    removeTotp: (proof) =>
      change(proof, "account.remove-totp", function* ({ accountId }, now) {
        if (!(yield* clearTotp(accountId, now))) throw new FormsvcError("conflict", NO_FACTOR);
      }),
  };
}

/** Whoever is signed in is no stranger, wherever they are. */
function trierOf({ viewer, address }: Pick<Proof, "viewer" | "address">): Trier {
  return { address, known: { accountId: viewer.accountId, by: `session ${viewer.sessionId}` } };
}

function* giveCodes(accountId: string): Steps<readonly string[]> {
  const codes = newRecoveryCodes();
  yield* storeRecoveryCodes(accountId, codes.map(digestOf));
  return codes;
}
