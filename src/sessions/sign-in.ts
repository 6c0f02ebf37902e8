import { recordChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Clock } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type SignInWay, signedIn, signInFailed } from "../foundation/events.ts";
import { addressUnit } from "../foundation/ip-address.ts";
import type { Log } from "../foundation/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { findAccount } from "../workspaces/workspace-store.ts";
import type { AttemptLimits } from "./attempt-limits.ts";
import { createCodeTickets } from "./code-tickets.ts";
import { findCredential, storePassword } from "./credential-store.ts";
import { type PasswordProver, requireUnchanged } from "./prove-password.ts";
import { type CodeKind, takeCode } from "./second-factor.ts";
import { endSessions, startSession, type StartedSession } from "./session.ts";
import { findSignInLink, takeSignInLink } from "./sign-in-link.ts";

/** The browser at the other end. */
export interface Client {
  /** Canonical. It is counted; it is stored and logged only if the configuration says so. */
  readonly address: string;
  /** What the browser calls itself; any text. */
  readonly userAgent: string;
}

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
   * Uses a link up: sets the password, ends all sessions of the account and begins one. When anything is wrong with the rest, the
   * link can be used again. @throws usage when the password is refused.
   */
  useLink(given: LinkProof, client: Client): Promise<StartedSession>;
}

export interface LinkProof {
  readonly token: string;
  readonly newPassword: string;
  /** Needed if the account has a second factor, so that who intercepts a link does not get past it. */
  readonly code: string;
}

export interface SignInParts {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly prover: PasswordProver;
  readonly limits: AttemptLimits;
  readonly clock: Clock;
  readonly log: Log;
  /** `dashboard.logAddresses` */
  readonly logAddresses: boolean;
}

const WRONG_PASSWORD = "The e-mail address or the password is not right.";
const WRONG_CODE = "The code is not right, or it was used before.";
const WRONG_TICKET = "That took too long. Begin again with your password.";
const WRONG_LINK = "This link was used, is older than 30 minutes, or was replaced by a newer one.";

export function createSignIns(parts: SignInParts): SignIns {
  const { db, keyring, prover, limits, clock } = parts;
  const tickets = createCodeTickets(clock);
  const begin = (accountId: string, client: Client): Steps<StartedSession> =>
    startSession(accountId, { userAgent: client.userAgent, ipAddress: shown(parts, client) }, clock.now());

  return {
    signIn: (email, password, client) =>
      noting(parts, client, "password", async () => {
        const proved = await prover.prove(email, password, client.address);
        if (proved === null) throw new FormsvcError("unauthorized", WRONG_PASSWORD);
        if (proved.totpSecret !== null) return { kind: "needs code", ticket: tickets.issue(proved) };
        const session = await db.transaction(function* () {
          yield* requireUnchanged(proved);
          return yield* begin(proved.accountId, client);
        });
        tell(parts, { session, accountId: proved.accountId, by: "password" }, client);
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
          return { by, accountId, session: yield* begin(accountId, client) };
        });
        tickets.spend(ticket);
        limits.giveBack(unit);
        limits.codeSucceeded(accountId);
        tell(parts, done, client);
        return done.session;
      }),
    useLink: ({ token, newPassword, code }, client) =>
      noting(parts, client, "link", async () => {
        const unit = addressUnit(client.address);
        limits.count(unit);
        const accountId = await db.read(() => findSignInLink(token, clock.now()));
        if (accountId === undefined) throw new FormsvcError("unauthorized", WRONG_LINK);
        const passwordHash = await prover.hash(newPassword, client.address);
        limits.countCode(wayOfLink(accountId));
        const session = await db.transaction(function* () {
          if ((yield* takeSignInLink(token, clock.now())) !== accountId)
            throw new FormsvcError("unauthorized", WRONG_LINK);
          if ((yield* findCredential(accountId))?.totpSecret)
            yield* requireCode(keyring, accountId, code, clock.now());
          yield* setPassword(accountId, passwordHash, clock.now());
          return yield* begin(accountId, client);
        });
        limits.giveBack(unit);
        limits.codeSucceeded(wayOfLink(accountId));
        tell(parts, { session, accountId, by: "link" }, client);
        return session;
      }),
  };
}

/** Apart from other codes: who knows the password cannot keep the holder of a link out. */
function wayOfLink(accountId: string): string {
  return `link ${accountId}`;
}

/** @throws unauthorized, which undoes the transaction: a link is not used up by a wrong code. */
function* requireCode(keyring: Keyring, accountId: string, code: string, now: number): Steps<CodeKind> {
  const credential = yield* findCredential(accountId);
  const kind = credential && (yield* takeCode(keyring, credential, code, now));
  if (!kind) throw new FormsvcError("unauthorized", WRONG_CODE);
  return kind;
}

function* setPassword(accountId: string, passwordHash: string, now: number): Steps<void> {
  yield* storePassword(accountId, passwordHash, now);
  yield* endSessions(accountId);
  const email = (yield* findAccount(accountId))?.email ?? "";
  const change = {
    action: "account.set-password",
    subject: email,
    workspaceId: null,
    detail: "by a link",
  } as const;
  yield* recordChange({ accountId, email }, change, now);
}

interface Success {
  readonly session: StartedSession;
  readonly accountId: string;
  readonly by: SignInWay;
}

function tell(parts: SignInParts, { session, accountId, by }: Success, client: Client): void {
  const address = shown(parts, client);
  signedIn(parts.log, { accountId, sessionId: session.id, by, ...(address !== null && { address }) });
}

/** Does an attempt, and writes the failed one to the log. */
async function noting<Result>(
  parts: SignInParts,
  client: Client,
  by: SignInWay,
  attempt: () => Promise<Result>,
): Promise<Result> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof FormsvcError && (error.code === "unauthorized" || error.code === "rate_limited")) {
      const address = shown(parts, client);
      signInFailed(parts.log, { by, code: error.code, ...(address !== null && { address }) });
    }
    throw error;
  }
}

function shown({ logAddresses }: SignInParts, { address }: Client): string | null {
  return logAddresses ? address : null;
}
