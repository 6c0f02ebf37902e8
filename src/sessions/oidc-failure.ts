import type * as OpenidClient from "openid-client";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { IssuerSilent } from "./bounded-fetch.ts";

type Library = typeof OpenidClient;

/** The largest number of characters of an issuer's error message that are shown. */
const MAX_WORDS_LENGTH = 200;

/** What is at the address of the setting `oidc.issuer` is no configuration of that issuer. */
export class NoConfiguration extends Error {}

/** A failed step with an issuer. */
interface Failure {
  /** The reason for the log. It never contains a token, or a claim about a person. */
  readonly reason: string;
  readonly errorFor: (label: string) => FormsvcError;
}

/** The error for people and the reason for the log of a failed step. */
export function describeFailure(library: Library, error: unknown): Failure {
  const silent = causesOf(error).find((cause) => cause instanceof IssuerSilent);
  if (silent !== undefined)
    return {
      reason: silent.message,
      errorFor: (label) =>
        new FormsvcError("unavailable", `${label} ${silent.message}. Try again in a moment.`, {
          retryAfterSeconds: 10,
          cause: error,
        }),
    };
  if (error instanceof FormsvcError) return { reason: error.message, errorFor: () => error };
  if (error instanceof NoConfiguration) {
    const why = reasonOf(error.cause);
    return {
      reason: `has no configuration at this address (${why}); look at oidc.issuer`,
      errorFor: (label) =>
        new FormsvcError(
          "unauthorized",
          `${label} has no configuration at the address that this server knows (${why}), so nobody can sign in by it. Tell whoever runs this server to look at oidc.issuer.`,
          { cause: error },
        ),
    };
  }
  if (isClientRefused(library, error))
    return {
      reason: "does not take this client; look at oidc.clientId and oidc.clientSecretFile",
      errorFor: (label) =>
        new FormsvcError(
          "unauthorized",
          `${label} does not take this server's name or secret, so nobody can sign in by it. Tell whoever runs this server.`,
          { cause: error },
        ),
    };
  const words = wordsOf(library, error);
  const reason = words ?? reasonOf(error);
  return {
    reason,
    errorFor: (label) =>
      new FormsvcError(
        "unauthorized",
        words === null
          ? `The answer of ${label} is not right (${reason}), so nobody was signed in.`
          : `${label} refused: ${words}.`,
        { cause: error },
      ),
  };
}

/** Whether the issuer refused this server, and not the person who signs in. */
function isClientRefused(library: Library, error: unknown): boolean {
  if (error instanceof library.ResponseBodyError) return error.error === "invalid_client";
  if (!(error instanceof library.WWWAuthenticateChallengeError)) return false;
  // A token is refused with this scheme.
  return error.cause.every(({ scheme }) => scheme !== "bearer");
}

/** The issuer's own message if it refused; null if it did not refuse. */
function wordsOf(library: Library, error: unknown): string | null {
  const isRefusal =
    error instanceof library.AuthorizationResponseError || error instanceof library.ResponseBodyError;
  if (!isRefusal) return null;
  const description = error.error_description === undefined ? "" : ` (${error.error_description})`;
  return plainText(`${error.error}${description}`).slice(0, MAX_WORDS_LENGTH);
}

/** The library's message, and the name of the claim that is wrong, without its value. */
function reasonOf(error: unknown): string {
  const [top, ...below] = causesOf(error);
  const message = top instanceof Error ? top.message : "unknown";
  const detail = below.map(answerOf).find((facts) => facts !== null) ?? messageIn(below);
  const claim = [top, ...below].map(claimOf).find((name) => name !== null);
  const isOfTime = error instanceof Error && error.message.includes("timestamp");
  const more = isOfTime
    ? `${claim ?? detail ?? "time"}; one of the two clocks may be wrong`
    : (claim ?? detail);
  return plainText(more === undefined || more === message ? message : `${message}: ${more}`).slice(
    0,
    MAX_WORDS_LENGTH,
  );
}

function messageIn(causes: readonly unknown[]): string | undefined {
  return causes.find((cause) => cause instanceof Error)?.message;
}

/** What was wrong with an answer that the library refused by its status or its type; null if the cause is no answer. */
function answerOf(cause: unknown): string | null {
  if (!(cause instanceof Response)) return null;
  const { status, headers } = cause;
  if (status >= 300 && status < 400) return `${status}, and redirects are not followed`;
  return status === 200 ? (headers.get("content-type") ?? "none") : String(status);
}

function claimOf(cause: unknown): string | null {
  if (typeof cause !== "object" || cause === null) return null;
  const { claim, attribute } = cause as { claim?: unknown; attribute?: unknown };
  const name = claim ?? attribute;
  return typeof name === "string" ? name : null;
}

/** An error with its causes, the outermost first. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let next = error; next !== undefined && causes.length < 8;) {
    causes.push(next);
    next = typeof next === "object" && next !== null ? (next as { cause?: unknown }).cause : undefined;
  }
  return causes;
}
