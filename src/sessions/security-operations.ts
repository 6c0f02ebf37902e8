import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { sessionEnded } from "../foundation/sign-in-events.ts";
import type { Log } from "../foundation/log.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { SecurityChange } from "./account-letters.ts";
import type { Trier } from "./attempt-limits.ts";
import {
  clearTotp,
  type Credential,
  findCredential,
  storePassword,
  storeRecoveryCodes,
  storeTotp,
  totpContext,
} from "./credential-store.ts";
import type { RelyingParty } from "./passkey-ceremony.ts";
import { type PasswordUse, requirePasswords } from "./password.ts";
import { type PasswordProver, requireUnchanged } from "./prove-password.ts";
import { digestOf, dropCodesOfNothing, findSecondFactors, newRecoveryCodes } from "./second-factor.ts";
import { endOtherSessions, isFresh, type Viewer } from "./session.ts";
import type { OwnerNotifier } from "./notify-owner.ts";
import { findStep, readTotpSecret } from "./totp.ts";

/*
 * Changes of how one's own account signs in. A session alone is not enough: the person must prove again who they are. Each change ends the
 * other sessions of the account, and throws unauthorized if the password is wrong; rate_limited; unavailable.
 */

/** The parts that these operations work with. */
export interface SecurityParts {
  readonly keyring: Keyring;
  readonly prover: PasswordProver;
  readonly ownerNotifier: OwnerNotifier;
  readonly log: Log;
  /** `dashboard.passwords` */
  readonly passwords: PasswordUse;
  /** The party that passkeys belong to; null if passkeys are off. */
  readonly party: RelyingParty | null;
  /** The account that is signed in, and the session that stays. */
  readonly viewer: Pick<Viewer, "accountId" | "email" | "sessionId">;
  /** The IP address of the client in canonical form. */
  readonly address: string;
}

type Asked = Context<SecurityParts>;

const password = z.string().describe("The password that is valid now.");
const codes = z.strictObject({
  recovery_codes: z.array(z.string()).describe("The recovery codes, which are shown only now."),
});
const nothing = z.strictObject({});

const ownChange = { kind: "write", access: "own-account" } as const;

const NO_FACTOR = "There is no second factor.";

export const setOwnPassword = operation({
  name: "account.set-password",
  summary: "Set one's own password, which signs out every other browser",
  ...ownChange,
  input: z.strictObject({ password, new_password: z.string() }),
  output: nothing,
  async run(context: Asked, { password: present, new_password: wanted }) {
    const { parts, now } = context;
    requirePasswords(parts.passwords);
    const passwordHash = await parts.prover.hash(wanted, trierOf(parts));
    const asked = { present, change: "account.set-password" } as const;
    return proveAndChange(context, asked, function* ({ accountId }) {
      yield* storePassword(accountId, passwordHash, now);
      return {};
    });
  },
});

export const setOwnTotp = operation({
  name: "account.set-totp",
  summary: "Switch one's own second factor on, with an app that is proved to have the secret",
  ...ownChange,
  input: z.strictObject({
    password,
    secret: z.string().describe("The secret of the app, as the page showed it."),
    code: z.string().describe("The code that the app shows now."),
  }),
  output: codes,
  run(context: Asked, { password: present, secret: text, code }) {
    const { parts, now } = context;
    const asked = { present, change: "account.set-totp" } as const;
    return proveAndChange(context, asked, function* ({ accountId, totpSecret }) {
      if (totpSecret !== null)
        throw new FormsvcError("conflict", "There is a second factor already. Remove it first.");
      const secret = readTotpSecret(text);
      const step = secret && findStep(secret, code.replace(/\s/g, ""), now);
      if (secret === null || step === undefined || step === null)
        throw new FormsvcError("usage", "The code is not right. Enter the one that the app shows now.");
      yield* storeTotp(accountId, parts.keyring.seal(secret, totpContext(accountId)), step, now);
      return yield* giveCodes(accountId);
    });
  },
});

export const renewOwnCodes = operation({
  name: "account.renew-codes",
  summary: "Make new recovery codes for oneself, and the earlier ones worthless",
  ...ownChange,
  input: z.strictObject({ password }),
  output: codes,
  async run(context: Asked, { password: present }) {
    const proved = await prove(context, present, "optional");
    const { accountId } = proved;
    return changeOwn(context, proved, { change: "account.renew-codes" }, function* () {
      if ((yield* findSecondFactors(accountId)) === null) throw new FormsvcError("conflict", NO_FACTOR);
      return yield* giveCodes(accountId);
    });
  },
});

export const removeOwnTotp = operation({
  name: "account.remove-totp",
  summary: "Switch one's own second factor off",
  ...ownChange,
  input: z.strictObject({ password }),
  output: nothing,
  run(context: Asked, { password: present }) {
    const asked = { present, change: "account.remove-totp" } as const;
    return proveAndChange(context, asked, function* ({ accountId }) {
      if (!(yield* clearTotp(accountId, context.now))) throw new FormsvcError("conflict", NO_FACTOR);
      yield* dropCodesOfNothing(accountId);
      return {};
    });
  },
});

/** A person who has just proved again who they are. */
export interface Proved {
  readonly accountId: string;
  /** Undefined if the account has never had a password. */
  readonly credential: Credential | undefined;
}

/**
 * Proves with the present password who asks. Without a password, a recent sign-in is the proof.
 *
 * @param password if `optional`, a recent sign-in is also enough for an account that never had a password.
 * @throws unauthorized, conflict
 */
export async function prove(
  { db, parts, now }: Asked,
  present: string,
  password: "needed" | "optional" = "needed",
): Promise<Proved> {
  const { accountId, email, sessionId } = parts.viewer;
  const known = await db.read(() => findCredential(accountId));
  if (parts.passwords === "off" || (password === "optional" && known === undefined)) {
    if (!(await db.read(() => isFresh(sessionId, now))))
      throw new FormsvcError("unauthorized", "Sign out and in again, and do this within 15 minutes.");
    if (known === undefined && password === "needed")
      throw new FormsvcError("conflict", "This account never had a password, so it has no app here.");
    return { accountId, credential: known };
  }
  const credential = await parts.prover.prove(email, present, trierOf(parts));
  if (credential?.accountId !== accountId)
    throw new FormsvcError("unauthorized", "The present password is not right.");
  return { accountId, credential };
}

/** Makes the change, ends the other sessions and records it, all or nothing. @param detail a text for the record. */
export async function changeOwn<Result>(
  { parts, now, transact }: Asked,
  { accountId, credential }: Proved,
  { change, detail = null }: { readonly change: SecurityChange; readonly detail?: string | null },
  work: () => Steps<Result>,
): Promise<Result> {
  const { ownerNotifier, log, viewer } = parts;
  const { email, sessionId } = viewer;
  const { result, ended } = await transact(function* () {
    if (credential !== undefined) yield* requireUnchanged(credential);
    const done = yield* work();
    const others = yield* endOtherSessions(accountId, sessionId);
    yield* ownerNotifier.write(email, change, now);
    return changed({ result: done, ended: others }, { subject: email, workspaceId: null, detail });
  });
  ownerNotifier.send();
  if (ended > 0) sessionEnded(log, { accountId, sessions: ended });
  return result;
}

interface Proof {
  /** The present password as it was given. */
  readonly present: string;
  readonly change: SecurityChange;
}

/** Proves who asks and makes the change, for an account with a password. */
async function proveAndChange<Result>(
  context: Asked,
  { present, change }: Proof,
  work: (credential: Credential) => Steps<Result>,
): Promise<Result> {
  const proved = await prove(context, present);
  const { credential } = proved;
  if (credential === undefined) throw new FormsvcError("conflict", NO_FACTOR);
  return changeOwn(context, proved, { change }, () => work(credential));
}

/** A person who is signed in is never a stranger, whatever their address is. */
function trierOf({ viewer, address }: Pick<SecurityParts, "viewer" | "address">): Trier {
  return { address, known: { accountId: viewer.accountId, by: `session ${viewer.sessionId}` } };
}

/** Makes new recovery codes, which replace all earlier ones. */
export function* giveCodes(accountId: string): Steps<{ recovery_codes: string[] }> {
  const given = newRecoveryCodes();
  yield* storeRecoveryCodes(accountId, given.map(digestOf));
  return { recovery_codes: given };
}
