import { recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { SignInWay } from "../foundation/sign-in-events.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { endTokensOf } from "../tokens/token-store.ts";
import { signUp } from "../workspaces/sign-up.ts";
import { noteEmailProved } from "../workspaces/proved-email.ts";
import { findAccount, findAccountByEmail } from "../workspaces/workspace-store.ts";
import type { Trier } from "./attempt-limits.ts";
import { findCredential, storePassword } from "./credential-store.ts";
import { findMailedLink, type LinkPurpose, type MailedLink, takeMailedLink } from "./mailed-link.ts";
import {
  beginSession,
  type Client,
  type EnteredSession,
  noting,
  type SignInParts,
  reportSignIn,
} from "./note-sign-in.ts";
import { requirePasswords } from "./password.ts";
import { type PasskeyAnswer, readAnswer, type RightAnswer, takeAnswer } from "./passkeys.ts";
import { type CodeKind, findSecondFactors, type SecondFactors, takeCode } from "./second-factor.ts";
import { endSessions } from "./session.ts";
import { findSignInLink, takeSignInLink } from "./sign-in-link.ts";

/** A second factor: a code of the app, a recovery code, or the answer of a passkey. */
export type SecondProof = string | PasskeyAnswer;

export interface LinkProof {
  readonly token: string;
  readonly newPassword: string;
  /** Needed if the account has a second factor, so that somebody who intercepts the link cannot use it. */
  readonly code: SecondProof;
}

/** A type of link, and how the database knows it. */
export interface LinkWay {
  readonly by: SignInWay;
  /** The message for a link that does not work. */
  readonly wrong: string;
  /** How the password was set, for the record of changes. */
  readonly detail: string;
  /** Whether the holder of the link has shown that they read the mail of the account's address. */
  readonly provesEmail: boolean;
  /** The account that a link is for; undefined if the link cannot be used. */
  find(token: string, now: number): Steps<string | undefined>;
  /** Like `find`, and uses the link up. */
  take(token: string, now: number): Steps<string | undefined>;
}

/** A link that was made on the machine. */
export const SIGN_IN_LINK: LinkWay = {
  by: "link",
  wrong: "This link was used, is older than 30 minutes, or was replaced by a newer one.",
  detail: "by a link",
  provesEmail: false,
  find: findSignInLink,
  take: takeSignInLink,
};

/** A link in a letter to somebody who forgot the password. */
export const RESET_LINK: LinkWay = {
  by: "reset",
  wrong: "This link was used, is older than an hour, or was replaced by a newer one. Ask for another e-mail.",
  detail: "by a link in an e-mail",
  provesEmail: true,
  *find(token, now) {
    return yield* accountOf(yield* findMailedLink("reset", token, now));
  },
  *take(token, now) {
    return yield* accountOf(yield* takeMailedLink("reset", token, now));
  },
};

const WRONG_SIGN_UP =
  "This link was used, is older than a day, or was replaced by a newer one. Sign in, or sign up again.";

/**
 * Sets the password, ends all sessions of the account and begins one; if passwords are off, only begins one. @throws as {@link
 * SignIns.useLink}
 */
export function useLink(
  parts: SignInParts,
  way: LinkWay,
  { token, newPassword, code }: LinkProof,
  client: Client,
): Promise<EnteredSession> {
  const { db, keyring, limits, clock } = parts;
  return noting(parts, client, way.by, async () => {
    const stranger: Trier = { address: client.address, known: null };
    limits.count(stranger);
    const { accountId, factors } = await db.read(() => holderOf(way, token, clock.now()));
    if (accountId === undefined) throw new FormsvcError("unauthorized", way.wrong);
    const setsPassword = parts.passwords === "on" || way.provesEmail;
    if (setsPassword) requirePasswords(parts.passwords);
    const holder: Trier = { ...stranger, known: { accountId, by: "link" } };
    const passwordHash = setsPassword ? await hashChosen(parts, newPassword, { holder, stranger }) : null;
    if (factors !== null) limits.countCode(codesOf(accountId));
    const second = factors === null ? "" : await readSecond(parts, code);
    const session = await db.transaction(function* () {
      if ((yield* way.take(token, clock.now())) !== accountId) return null;
      if ((yield* findSecondFactors(accountId)) !== null)
        yield* requireSecond(keyring, accountId, second, clock.now());
      if (passwordHash !== null) yield* setPassword(parts, accountId, passwordHash, way);
      if (way.provesEmail) yield* proveEmail(accountId, clock.now());
      return yield* beginSession(parts, accountId, client);
    });
    limits.giveBack(stranger);
    if (session === null) {
      // Somebody else used this link first, so the code was not checked.
      if (factors !== null) limits.codeUnread(codesOf(accountId));
      throw new FormsvcError("unauthorized", way.wrong);
    }
    parts.ownerNotifier.send();
    limits.codeSucceeded(codesOf(accountId));
    reportSignIn(parts, { session, accountId, by: way.by }, client);
    return session;
  });
}

/**
 * The hash of the password that the holder of a right link chose. The attempt is not counted if that password is refused, because no link
 * was guessed.
 *
 * @param triers `stranger` counts the attempt, `holder` waits for the hash @throws usage, unavailable
 */
export async function hashChosen(
  { prover, limits }: SignInParts,
  password: string,
  { holder, stranger }: { readonly holder: Trier; readonly stranger: Trier },
): Promise<string> {
  try {
    return await prover.hash(password, holder);
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "usage") limits.giveBack(stranger);
    throw error;
  }
}

/** Sets a password. The owner is notified if it replaces one. */
function* setPassword(
  { ownerNotifier, clock }: SignInParts,
  accountId: string,
  hash: string,
  way: LinkWay,
): Steps<void> {
  const earlier = yield* findCredential(accountId);
  const email = yield* replacePassword(accountId, hash, way.detail, clock.now());
  if (earlier !== undefined) yield* ownerNotifier.write(email, "account.set-password", clock.now());
}

interface Holder {
  /** Undefined if the link cannot be used. */
  readonly accountId: string | undefined;
  /** Null if the account has no second factor. */
  readonly factors: SecondFactors | null;
}

/** What a page may show to the holder of a sign-in link, which is not used up; undefined if the link cannot be used. */
export function* readLink(
  token: string,
  now: number,
): Steps<{ readonly email: string; readonly factors: SecondFactors | null } | undefined> {
  const { accountId, factors } = yield* holderOf(SIGN_IN_LINK, token, now);
  const account = accountId === undefined ? undefined : yield* findAccount(accountId);
  return account && { email: account.email, factors };
}

function* holderOf(way: LinkWay, token: string, now: number): Steps<Holder> {
  const accountId = yield* way.find(token, now);
  return { accountId, factors: accountId === undefined ? null : yield* findSecondFactors(accountId) };
}

/** Makes the account of a confirmed address, with its workspace and password. @throws as {@link SignIns.confirmSignUp} */
export function confirmSignUp(
  parts: SignInParts,
  { token, newPassword }: Omit<LinkProof, "code">,
  client: Client,
): Promise<EnteredSession> {
  const { db, limits, clock, newWorkspacePlan } = parts;
  return noting(parts, client, "sign-up", async () => {
    requirePasswords(parts.passwords);
    const stranger: Trier = { address: client.address, known: null };
    limits.count(stranger);
    if ((await db.read(() => addressOfLink("sign-up", token, clock.now()))) === undefined)
      throw new FormsvcError("unauthorized", WRONG_SIGN_UP);
    const passwordHash = await hashChosen(parts, newPassword, { holder: stranger, stranger });
    const entered = await db.transaction(function* () {
      const now = clock.now();
      const email = yield* freeAddressOf(yield* takeMailedLink("sign-up", token, now));
      if (email === undefined) throw new FormsvcError("unauthorized", WRONG_SIGN_UP);
      const { account } = yield* signUp(email, newWorkspacePlan, now);
      yield* storePassword(account.id, passwordHash, now);
      yield* noteEmailProved(account.id, now);
      return { accountId: account.id, session: yield* beginSession(parts, account.id, client) };
    });
    limits.giveBack(stranger);
    reportSignIn(parts, { ...entered, by: "sign-up" }, client);
    return entered.session;
  });
}

/** Checks a passkey's answer before the transaction; a code is returned as it is. @throws unauthorized, not_found */
export async function readSecond(parts: SignInParts, given: SecondProof): Promise<string | RightAnswer> {
  return typeof given === "string" ? given : readAnswer(parts, "second factor", given, parts.clock.now());
}

/** Takes the second factor. @throws unauthorized, which undoes the transaction, so that a wrong code does not use the link up. */
export function* requireSecond(
  keyring: Keyring,
  accountId: string,
  given: string | RightAnswer,
  now: number,
): Steps<CodeKind | "passkey"> {
  if (typeof given === "string") {
    const kind = yield* takeCode(keyring, accountId, given, now);
    if (kind === null)
      throw new FormsvcError("unauthorized", "The code is not right, or it was used before.");
    return kind;
  }
  if (given.accountId !== accountId)
    throw new FormsvcError("unauthorized", "This passkey belongs to another account.");
  yield* takeAnswer(given, now);
  return "passkey";
}

/** The address that a link in a letter is for; the link is not used up. Undefined if it cannot be used. */
export function* addressOfLink(purpose: LinkPurpose, token: string, now: number): Steps<string | undefined> {
  const link = yield* findMailedLink(purpose, token, now);
  if (purpose === "sign-up") return yield* freeAddressOf(link);
  return (yield* accountOf(link)) === undefined ? undefined : link?.email;
}

/** The address of a link to sign up; undefined if an account has it, because an operator may have made one meanwhile. */
function* freeAddressOf(link: MailedLink | undefined): Steps<string | undefined> {
  const account = link && (yield* findAccountByEmail(link.email));
  return account === undefined ? link?.email : undefined;
}

/** The account whose password a link resets. A link from before the last change of the password does not work. */
function* accountOf(link: MailedLink | undefined): Steps<string | undefined> {
  const account = link && (yield* findAccountByEmail(link.email));
  if (link === undefined || account === undefined) return undefined;
  const credential = yield* findCredential(account.id);
  return credential === undefined || credential.changedAt <= link.madeAt ? account.id : undefined;
}

/**
 * The name under which wrong codes are counted. Links have their own, so that somebody who knows the password cannot lock out the holder of
 * a link.
 */
function codesOf(accountId: string): string {
  return `link ${accountId}`;
}

/**
 * Notes that the holder of an account's address was proved. If the account was in doubt, its tokens end, because its maker may have made
 * some, and a new password ends none.
 */
function* proveEmail(accountId: string, now: number): Steps<void> {
  if ((yield* findAccount(accountId))?.isDoubtful === true) yield* endTokensOf(accountId, now);
  yield* noteEmailProved(accountId, now);
}

/** Sets the password, ends all sessions and records it. Returns the address of the account. */
function* replacePassword(
  accountId: string,
  passwordHash: string,
  detail: string,
  now: number,
): Steps<string> {
  yield* storePassword(accountId, passwordHash, now);
  yield* endSessions(accountId);
  const email = (yield* findAccount(accountId))?.email ?? "";
  const change = { action: "account.set-password", subject: email, workspaceId: null, detail } as const;
  yield* recordChange({ accountId, email }, change, now);
  return email;
}
