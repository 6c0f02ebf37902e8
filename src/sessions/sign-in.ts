import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { findAccountByEmail } from "../workspaces/workspace-store.ts";
import {
  acceptAsNamed,
  acceptAsNew,
  showInvitation,
  showInvitationAgain,
  type ShownInvitation,
} from "./accept-invitation.ts";
import type { Trier } from "./attempt-limits.ts";
import { type CodeTickets, createCodeTickets } from "./code-tickets.ts";
import { recognise } from "./known-clients.ts";
import {
  beginSession,
  type Client,
  type EnteredSession,
  noting,
  type SignInParts,
  reportSignIn,
} from "./note-sign-in.ts";
import type { Person } from "./oidc-person.ts";
import { admitPerson, type Admission, findAccountOfPerson } from "./oidc-sign-in.ts";
import { requirePasswords } from "./password.ts";
import { requireUnchanged } from "./prove-password.ts";
import { type PasskeyAnswer, readAnswer, takeAnswer } from "./passkeys.ts";
import { findSecondFactors, type SecondFactors } from "./second-factor.ts";
import {
  confirmSignUp,
  type LinkProof,
  readSecond,
  requireSecond,
  RESET_LINK,
  type SecondProof,
  SIGN_IN_LINK,
  useLink,
} from "./use-link.ts";

/** The result of a right password, or of an issuer's answer. */
export type SignInAnswer =
  | { readonly kind: "signed in"; readonly session: EnteredSession }
  /** The account has a second factor. For five minutes, the ticket proves the first one. */
  | { readonly kind: "needs code"; readonly ticket: string; readonly factors: SecondFactors };

/** The ways to sign in to the dashboard. Each method throws unauthorized if the proof is wrong; rate_limited; unavailable. */
export interface SignIns {
  signIn(email: string, password: string, client: Client): Promise<SignInAnswer>;
  /** Signs in a person whom an OpenID issuer names. @param ask asks the issuer; if it throws, the attempt counts as failed. */
  signInByIssuer(admission: Admission, ask: () => Promise<Person>, client: Client): Promise<SignInAnswer>;
  /** Gives the second factor. */
  giveCode(ticket: string, code: SecondProof, client: Client): Promise<EnteredSession>;
  /** Signs in with a passkey alone, which replaces both factors. @throws forbidden if passwords are off; not_found if passkeys are off. */
  signInByPasskey(answer: PasskeyAnswer, client: Client): Promise<EnteredSession>;
  /**
   * Uses up a link that was made on the machine: sets the password, ends all sessions of the account and begins one. If anything else is
   * wrong, the link can be used again. @throws usage if the password is refused.
   */
  useLink(given: LinkProof, client: Client): Promise<EnteredSession>;
  /** Like `useLink`, with the link of a letter to somebody who forgot the password. */
  resetPassword(given: LinkProof, client: Client): Promise<EnteredSession>;
  /**
   * Like `useLink`, with the link of a letter to somebody who signs up: first makes the account with its workspace. @throws unavailable
   * while there is no account at all.
   */
  confirmSignUp(given: Omit<LinkProof, "code">, client: Client): Promise<EnteredSession>;
  /** Shows an invitation by its link, and does not use the link up. */
  showInvitation(token: string, client: Client): Promise<ShownInvitation>;
  /** Shows an invitation after an attempt to accept it was counted and refused; undefined if its link is not good. */
  showInvitationAgain(token: string): Promise<ShownInvitation | undefined>;
  /** Like `confirmSignUp`, with the link of an invitation: also makes the account a member. */
  acceptInvitation(given: Omit<LinkProof, "code">, client: Client): Promise<EnteredSession>;
  /** Like `acceptInvitation`, for a person whom a trusted proxy names by the invited address: without password and session. */
  acceptAsNamed(given: { readonly token: string; readonly email: string }, client: Client): Promise<void>;
}

const WRONG_PASSWORD = "The e-mail address or the password is not right.";
const WRONG_TICKET = "That took too long. Begin again.";
const NOT_ALONE = "Nobody signs in by a passkey alone here: it is asked for after the issuer.";

export function createSignIns(parts: SignInParts): SignIns {
  const tickets = createCodeTickets(parts.clock);
  return {
    signIn: passwordWay(parts, tickets),
    signInByIssuer: issuerWay(parts, tickets),
    giveCode: codeWay(parts, tickets),
    signInByPasskey: passkeyWay(parts),
    useLink: (given, client) => useLink(parts, SIGN_IN_LINK, given, client),
    resetPassword: (given, client) => useLink(parts, RESET_LINK, given, client),
    confirmSignUp: (given, client) => confirmSignUp(parts, given, client),
    showInvitation: (token, client) => showInvitation(parts, token, client),
    showInvitationAgain: (token) => showInvitationAgain(parts, token),
    acceptInvitation: (given, client) => acceptAsNew(parts, given, client),
    acceptAsNamed: (given, client) => acceptAsNamed(parts, given, client),
  };
}

function passwordWay(parts: SignInParts, tickets: CodeTickets): SignIns["signIn"] {
  const { db, prover } = parts;
  return (email, password, client) =>
    noting(parts, client, "password", async () => {
      requirePasswords(parts.passwords);
      const trier = await trierOf(parts, email, client);
      const proved = await prover.prove(email, password, trier);
      if (proved === null) throw new FormsvcError("unauthorized", WRONG_PASSWORD);
      const admit = (): Steps<void> => requireUnchanged(proved);
      const { accountId } = proved;
      const factors = await db.read(() => findSecondFactors(accountId));
      if (factors !== null)
        return { kind: "needs code", ticket: tickets.issue({ accountId, trier, admit }), factors };
      const session = await db.transaction(function* () {
        yield* admit();
        yield* requireNoFactor(accountId);
        return yield* beginSession(parts, accountId, client);
      });
      reportSignIn(parts, { session, accountId, by: "password" }, client);
      return { kind: "signed in", session };
    });
}

function codeWay(parts: SignInParts, tickets: CodeTickets): SignIns["giveCode"] {
  const { db, keyring, limits, clock } = parts;
  return (ticket, code, client) =>
    noting(parts, client, "code", async () => {
      const ticketed = tickets.find(ticket);
      if (ticketed === undefined) {
        limits.count({ address: client.address, known: null });
        throw new FormsvcError("unauthorized", WRONG_TICKET);
      }
      const { accountId, trier, admit, issuer } = ticketed;
      // The ticket shows that the first factor was right, so attempts are not counted by address.
      const codes = trier.known === null ? accountId : `${trier.known.by} ${accountId}`;
      limits.countCode(codes);
      const second = await readSecond(parts, code);
      const done = await db.transaction(function* () {
        yield* admit();
        const by = yield* requireSecond(keyring, accountId, second, clock.now());
        return { by, accountId, session: yield* beginSession(parts, accountId, client, issuer) };
      });
      tickets.spend(ticket);
      limits.codeSucceeded(codes);
      reportSignIn(parts, done, client);
      return done.session;
    });
}

function passkeyWay(parts: SignInParts): SignIns["signInByPasskey"] {
  const { db, limits, clock } = parts;
  return (answer, client) =>
    noting(parts, client, "passkey", async () => {
      if (parts.passwords === "off") throw new FormsvcError("forbidden", NOT_ALONE);
      const trier: Trier = { address: client.address, known: null };
      limits.count(trier);
      const right = await readAnswer(parts, "alone", answer, clock.now());
      const { accountId } = right;
      const session = await db.transaction(function* () {
        yield* takeAnswer(right, clock.now());
        return yield* beginSession(parts, accountId, client);
      });
      limits.giveBack(trier);
      reportSignIn(parts, { session, accountId, by: "passkey" }, client);
      return session;
    });
}

function issuerWay(parts: SignInParts, tickets: CodeTickets): SignIns["signInByIssuer"] {
  const { db, limits, clock } = parts;
  return (admission, ask, client) =>
    noting(parts, client, "oidc", async () => {
      const { issuer, trustSecondFactor } = admission.settings;
      const trier: Trier = { address: client.address, known: null };
      limits.count(trier);
      const person = await ask().catch((error: unknown) => {
        // An issuer that does not answer is not the person's failure.
        if (error instanceof FormsvcError && error.code === "unavailable") limits.giveBack(trier);
        throw error;
      });
      const found = await db.read(() => factorsOf(admission, person, clock.now()));
      limits.giveBack(trier);
      const admit = function* (): Steps<string> {
        const id = yield* admitPerson(admission, person, clock.now());
        if (found !== undefined && found.accountId !== id)
          throw new FormsvcError("unauthorized", WRONG_TICKET);
        return id;
      };
      const asksForCode = !(trustSecondFactor && person.gaveSecondFactor);
      if (found !== undefined && found.factors !== null && asksForCode) {
        const { accountId, factors } = found;
        return { kind: "needs code", ticket: tickets.issue({ accountId, trier, admit, issuer }), factors };
      }
      const { accountId, session } = await db.transaction(function* () {
        const id = yield* admit();
        if (asksForCode) yield* requireNoFactor(id);
        return { accountId: id, session: yield* beginSession(parts, id, client, issuer) };
      });
      reportSignIn(parts, { session, accountId, by: "oidc" }, client);
      return { kind: "signed in", session };
    });
}

/** The client that tries a password: one that the account knows, or a stranger. */
async function trierOf({ db, keyring, clock }: SignInParts, email: string, client: Client): Promise<Trier> {
  const known = await db.read(function* () {
    const account = yield* findAccountByEmail(email);
    return yield* recognise(keyring, account?.id, client, clock.now());
  });
  return { address: client.address, known };
}

interface KnownPerson {
  readonly accountId: string;
  readonly factors: SecondFactors | null;
}

/** The account of a person whom an issuer names, with its second factors; undefined if there is no account. */
function* factorsOf(admission: Admission, person: Person, now: number): Steps<KnownPerson | undefined> {
  const account = yield* findAccountOfPerson(admission, person, now);
  return account && { accountId: account.id, factors: yield* findSecondFactors(account.id) };
}

/** @throws unauthorized if the account has a second factor. */
function* requireNoFactor(accountId: string): Steps<void> {
  if ((yield* findSecondFactors(accountId)) !== null)
    throw new FormsvcError("unauthorized", "The second factor was just set up. Sign in again.");
}
