import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Clock } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type SignInWay, signedIn, signInFailed } from "../foundation/sign-in-events.ts";
import type { Log } from "../foundation/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { AttemptLimits } from "./attempt-limits.ts";
import type { PasswordProver } from "./prove-password.ts";
import type { RelyingParty } from "./passkey-ceremony.ts";
import type { PasswordUse } from "./password.ts";
import { rememberClient, type Shown } from "./known-clients.ts";
import { startSession, type StartedSession } from "./session.ts";
import type { OwnerNotifier } from "./notify-owner.ts";

/** The browser that signs in. */
export interface Client extends Shown {
  /**
   * The IP address in canonical form. It is counted and remembered as a keyed hash, and stored or logged only if the configuration says so.
   */
  readonly address: string;
  /** The User-Agent of the browser; it may be any text. */
  readonly userAgent: string;
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
  /** `dashboard.passwords` */
  readonly passwords: PasswordUse;
  /** The plan of the workspace that comes with a new account. */
  readonly newWorkspacePlan: string;
  readonly ownerNotifier: OwnerNotifier;
  /** The host and origin to which passkeys belong; null if passkeys are off. */
  readonly party: RelyingParty | null;
}

/** A new session, in a browser that is known from now on. */
export interface EnteredSession extends StartedSession {
  readonly knownCookie: string;
}

/** A completed sign-in. */
export interface Entered {
  readonly session: StartedSession;
  readonly accountId: string;
  readonly by: SignInWay;
}

/** Begins a session. @param issuer the OpenID issuer that proved the person; absent if this server did. */
export function* beginSession(
  parts: SignInParts,
  accountId: string,
  client: Client,
  issuer?: string,
): Steps<EnteredSession> {
  const own = { userAgent: client.userAgent, ipAddress: shown(parts, client) };
  const browser = issuer === undefined ? own : { ...own, issuer };
  const now = parts.clock.now();
  const session = yield* startSession(accountId, browser, now);
  return { ...session, knownCookie: yield* rememberClient(parts.keyring, accountId, client, now) };
}

export function reportSignIn(parts: SignInParts, { session, accountId, by }: Entered, client: Client): void {
  const address = shown(parts, client);
  signedIn(parts.log, { accountId, sessionId: session.id, by, ...(address !== null && { address }) });
}

/**
 * The errors that are logged as a failed sign-in: a wrong proof, too many attempts, or a way to sign in that is turned off here and that no
 * page offers.
 */
const FAILURES: ReadonlySet<string> = new Set(["unauthorized", "rate_limited", "forbidden", "not_found"]);

/** Runs an attempt, and logs it if it fails. */
export async function noting<Result>(
  parts: SignInParts,
  client: Client,
  by: SignInWay,
  attempt: () => Promise<Result>,
): Promise<Result> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof FormsvcError && FAILURES.has(error.code)) {
      const address = shown(parts, client);
      signInFailed(parts.log, { by, code: error.code, ...(address !== null && { address }) });
    }
    throw error;
  }
}

function shown({ logAddresses }: SignInParts, { address }: Client): string | null {
  return logAddresses ? address : null;
}
