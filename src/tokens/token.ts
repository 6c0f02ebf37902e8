import { FormsvcError } from "../foundation/errors.ts";
import { makeSecretText, readSecretText, type SecretText } from "../foundation/secret-text.ts";
import { type Scope, SCOPES } from "../operations/access.ts";
import { DAY_MS } from "../foundation/time-units.ts";

/** A token of the HTTP API as it is stored, without its text. */
export interface Token {
  readonly id: string;
  readonly name: string;
  /** The account that it belongs to; null for a service token. */
  readonly accountId: string | null;
  /** The workspace of a service token; null for an account's token. */
  readonly workspaceId: string | null;
  /** The only endpoint that a service token is for; null for all endpoints of its workspace. */
  readonly endpointId: string | null;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  /** Null means never. */
  readonly expiresAt: number | null;
  /** When it was last used, to the UTC day; null if never. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export type TokenState = "active" | "expired" | "revoked";

const TOKEN_PREFIX = "fat_";
export const DEFAULT_EXPIRY_MS = 90 * DAY_MS;
const MAX_EXPIRY_MS = 3650 * DAY_MS;
/** How long before its end a token is reported. */
export const WARNED_BEFORE_MS = 14 * DAY_MS;
/** The scopes of a token whose maker chose none: they only read. */
export const DEFAULT_SCOPES: readonly Scope[] = [
  "submissions:read",
  "endpoints:read",
  "recipients:read",
  "workspace:read",
];

export function makeTokenText(): SecretText {
  return makeSecretText(TOKEN_PREFIX);
}

/** Reads the text of a token. Null for every text that no correct program can have issued. */
export function readTokenText(text: string): SecretText | null {
  return readSecretText(TOKEN_PREFIX, text);
}

export function stateOf({ revokedAt, expiresAt }: Token, now: number): TokenState {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

/** Whether the token works and expires within 14 days. */
export function endsSoon(token: Token, now: number): boolean {
  const { expiresAt } = token;
  return stateOf(token, now) === "active" && expiresAt !== null && expiresAt - now <= WARNED_BEFORE_MS;
}

/** The scopes of a new token, each once, in the order of the list. @throws usage if there are none, or if its owner may not have one. */
export function checkScopes(
  scopes: readonly Scope[],
  owner: { readonly isOperator: boolean },
): readonly Scope[] {
  if (scopes.length === 0) throw new FormsvcError("usage", "a token needs at least one scope");
  if (scopes.includes("operator") && !owner.isOperator)
    throw new FormsvcError("usage", "only an operator’s token can have the scope operator");
  return SCOPES.filter((scope) => scopes.includes(scope));
}

/**
 * When a token that is made now expires, in milliseconds since 1970. @param ms its lifetime; null means that it never expires. @throws
 * usage
 */
export function expiryOf(ms: number | null, now: number): number | null {
  if (ms === null) return null;
  if (ms < 1000 || ms > MAX_EXPIRY_MS)
    throw new FormsvcError("usage", "a token lasts from 1 second to 3650 days, or for ever");
  return now + ms;
}
