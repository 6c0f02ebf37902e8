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

const RECOVERY_CODES = 10;
/** The number of bytes: 80 bits are too many to guess, so a plain SHA-256 protects the codes. */
const RECOVERY_CODE_BYTES = 10;

/** The type of a code that was accepted. */
export type CodeKind = "code" | "recovery code";

/** The second factors of an account. A recovery code replaces either of them. */
export interface SecondFactors {
  readonly app: boolean;
  readonly passkeys: boolean;
}

/** Null if the account has no second factor. */
export function* findSecondFactors(accountId: string): Steps<SecondFactors | null> {
  const credential = yield* findCredential(accountId);
  const app = credential !== undefined && credential.totpSecret !== null;
  const passkeys = yield* hasPasskeys(accountId);
  return app || passkeys ? { app, passkeys } : null;
}

/** Deletes the recovery codes if the account has no second factor left that they could replace. */
export function* dropCodesOfNothing(accountId: string): Steps<void> {
  if ((yield* findSecondFactors(accountId)) === null) yield* dropRecoveryCodes(accountId);
}

/**
 * Uses up a code of an account's second factor: six digits from the app, or a recovery code. Spaces, hyphens and capitals make no
 * difference. Returns null if the code is wrong or was used before.
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

/** Ten new codes like `abcd-efgh-ijkl-mnop`. They are shown once; the database gets their {@link digestOf}. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = toBase32(randomBytes(RECOVERY_CODE_BYTES)).toLowerCase();
    return code.match(/.{4}/g)?.join("-") ?? code;
  });
}

/** The stored hash of a recovery code. */
export function digestOf(recoveryCode: string): Buffer {
  return digest(recoveryCode.replaceAll("-", ""));
}

function digest(code: string): Buffer {
  return hash("sha256", code, "buffer");
}
