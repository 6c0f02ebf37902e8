import { FormsvcError } from "../foundation/errors.ts";
import { addressUnit } from "../foundation/ip-address.ts";
import { createCodeTickets } from "./code-tickets.ts";
import { beginSession, type Client, noting, type SignInParts, tellSignedIn } from "./note-sign-in.ts";
import { requireUnchanged } from "./prove-password.ts";
import type { CodeKind } from "./second-factor.ts";
import type { StartedSession } from "./session.ts";
import { confirmSignUp, type LinkProof, requireCode, RESET_LINK, SIGN_IN_LINK, useLink } from "./use-link.ts";

/** What a password leads to. */
export type SignInAnswer =
  | { readonly kind: "signed in"; readonly session: StartedSession }
  /** The account has a second factor. The ticket stands for the password, for five minutes. */
  | { readonly kind: "needs code"; readonly ticket: string };

/** The ways into the dashboard. Each throws unauthorized when the proof is wrong; rate_limited; unavailable. */
export interface SignIns {
  signIn(email: string, password: string, client: Client): Promise<SignInAnswer>;
  /** The second step. @param code from the app, or a recovery code. */
  giveCode(ticket: string, code: string, client: Client): Promise<StartedSession>;
  /**
   * Uses a link up that was made on the machine: sets the password, ends all sessions of the account and begins one. When anything
   * is wrong with the rest, the link can be used again. @throws usage when the password is refused.
   */
  useLink(given: LinkProof, client: Client): Promise<StartedSession>;
  /** The same with the link of a letter, which somebody asked for who forgot the password. */
  resetPassword(given: LinkProof, client: Client): Promise<StartedSession>;
  /**
   * The same with the link of a letter to who signs up: makes the account first, with its workspace. @throws unavailable while
   * there is no account at all.
   */
  confirmSignUp(given: Omit<LinkProof, "code">, client: Client): Promise<StartedSession>;
}

const WRONG_PASSWORD = "The e-mail address or the password is not right.";
const WRONG_TICKET = "That took too long. Begin again with your password.";

export function createSignIns(parts: SignInParts): SignIns {
  const { db, keyring, prover, limits, clock } = parts;
  const tickets = createCodeTickets(clock);

  return {
    signIn: (email, password, client) =>
      noting(parts, client, "password", async () => {
        const proved = await prover.prove(email, password, client.address);
        if (proved === null) throw new FormsvcError("unauthorized", WRONG_PASSWORD);
        if (proved.totpSecret !== null) return { kind: "needs code", ticket: tickets.issue(proved) };
        const session = await db.transaction(function* () {
          yield* requireUnchanged(proved);
          return yield* beginSession(parts, proved.accountId, client);
        });
        tellSignedIn(parts, { session, accountId: proved.accountId, by: "password" }, client);
        return { kind: "signed in", session };
      }),
    giveCode: (ticket, code, client) =>
      noting(parts, client, "code", async () => {
        const unit = addressUnit(client.address);
        limits.count(unit);
        const proved = tickets.find(ticket);
        if (proved === undefined) throw new FormsvcError("unauthorized", WRONG_TICKET);
        const { accountId } = proved;
        limits.countCode(accountId);
        const done = await db.transaction(function* () {
          yield* requireUnchanged(proved);
          const by: CodeKind = yield* requireCode(keyring, accountId, code, clock.now());
          return { by, accountId, session: yield* beginSession(parts, accountId, client) };
        });
        tickets.spend(ticket);
        limits.giveBack(unit);
        limits.codeSucceeded(accountId);
        tellSignedIn(parts, done, client);
        return done.session;
      }),
    useLink: (given, client) => useLink(parts, SIGN_IN_LINK, given, client),
    resetPassword: (given, client) => useLink(parts, RESET_LINK, given, client),
    confirmSignUp: (given, client) => confirmSignUp(parts, given, client),
  };
}
