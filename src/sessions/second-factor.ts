import { hash, randomBytes } from "node:crypto";
import type { Steps } from "../database/steps.ts";
import type { Keyring } from "../secrets/keyring.ts";
import {
  dropRecoveryCodes,
  findCredential,
  takeRecoveryCode,
  takeStep,
  totpContext,
} from "./credential-store.ts";
import { hasPasskeys } from "./passkey-store.ts";
import { findStep, toBase32 } from "./totp.ts";

export const RECOVERY_CODES = 10;
/** 80 bits: too many to guess, so a plain SHA-256 protects them. */
const RECOVERY_CODE_BYTES = 10;

/** What a code was. */
export type CodeKind = "code" | "recovery code";

/** What an account is asked for besides a password or an issuer. Recovery codes stand in for either. */
export interface SecondFactors {
  readonly app: boolean;
  readonly passkeys: boolean;
}

/** Null if it is asked for nothing more. */
export function* findSecondFactors(accountId: string): Steps<SecondFactors | null> {
  const credential = yield* findCredential(accountId);
  const app = credential !== undefined && credential.totpSecret !== null;
  const passkeys = yield* hasPasskeys(accountId);
  return app || passkeys ? { app, passkeys } : null;
}

/** Recovery codes go with the last second factor that they stand in for. */
export function* dropCodesOfNothing(accountId: string): Steps<void> {
  if ((yield* findSecondFactors(accountId)) === null) yield* dropRecoveryCodes(accountId);
}

/**
 * Uses up a code of an account's second factor: six digits from the app, or a recovery code. Blanks, hyphens and capitals do not
 * matter. Returns null when it is wrong or was used before.
 */
export function* takeCode(
  keyring: Keyring,
  accountId: string,
  text: string,
  now: number,
): Steps<CodeKind | null> {
  const code = text.replace(/[\s-]/g, "").toLowerCase();
  if (/^[a-z2-7]{16}$/.test(code))
    return (yield* takeRecoveryCode(accountId, digest(code))) ? "recovery code" : null;
  const totpSecret = (yield* findCredential(accountId))?.totpSecret ?? null;
  if (totpSecret === null) return null;
  const step = findStep(keyring.open(totpSecret, totpContext(accountId)), code, now);
  return step !== undefined && (yield* takeStep(accountId, step)) ? "code" : null;
}

/** Ten codes like `abcd-efgh-ijkl-mnop`. They are shown once; the database gets their {@link digestOf}. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = toBase32(randomBytes(RECOVERY_CODE_BYTES)).toLowerCase();
    return code.match(/.{4}/g)?.join("-") ?? code;
  });
}

/** What is stored of a recovery code. */
export function digestOf(recoveryCode: string): Buffer {
  return digest(recoveryCode.replaceAll("-", ""));
}

function digest(code: string): Buffer {
  return hash("sha256", code, "buffer");
}
