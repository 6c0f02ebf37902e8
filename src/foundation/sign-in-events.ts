import type { Logger as Log } from "pino";

/** The events of signing in. `events.ts` has the others. */

/** How somebody proves who they are. */
export type SignInWay =
  | "password"
  | "code"
  | "recovery code"
  | "passkey"
  | "link"
  | "reset"
  | "sign-up"
  | "invitation"
  | "oidc";

/** @param facts `address` is there only with `dashboard.logAddresses`. */
export function signedIn(
  log: Log,
  facts: {
    readonly accountId: string;
    readonly sessionId: string;
    readonly by: SignInWay;
    readonly address?: string;
  },
): void {
  log.info({ event: "session.started", ...facts }, "somebody signed in to the dashboard");
}

/**
 * The line names no account, because the address that was typed may be anything.
 *
 * @param facts `address` is there only with `dashboard.logAddresses`.
 */
export function signInFailed(
  log: Log,
  facts: { readonly by: SignInWay; readonly code: string; readonly address?: string },
): void {
  log.warn({ event: "sign-in.failed", ...facts }, "somebody did not get into the dashboard");
}

/**
 * @param facts `step` is the request to the issuer; `reason` is the issuer's refusal, or what is wrong with its answer, without tokens and
 * claims.
 */
export function issuerFailed(
  log: Log,
  facts: { readonly issuer: string; readonly step: string; readonly reason: string },
): void {
  log.warn({ event: "oidc.failed", ...facts }, "the OpenID issuer refused, gave no answer or a wrong one");
}

export function sessionEnded(
  log: Log,
  facts: { readonly accountId: string; readonly sessions: number },
): void {
  log.info({ event: "session.ended", ...facts }, "sessions of the dashboard were ended");
}

/** Logged once at each start, until somebody has a password. @param remedy the command that makes a sign-in link. */
export function nobodySignsIn(log: Log, remedy: string): void {
  const message = `nobody can sign in to the dashboard yet; make a link with: ${remedy}`;
  log.info({ event: "dashboard.no-password" }, message);
}
