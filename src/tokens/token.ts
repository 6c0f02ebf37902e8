import { FormsvcError } from "../foundation/errors.ts";
import { makeSecretText, readSecretText, type SecretText } from "../foundation/secret-text.ts";
import { type Scope, SCOPES } from "../operations/access.ts";
import { DAY_MS } from "../foundation/time-units.ts";

/** A token of the HTTP API as it is stored: without its text. */
export interface Token {
  readonly id: string;
  readonly name: string;
  /** Whose it is; null is a service token. */
  readonly accountId: string | null;
  /** Of a service token; null is an account's. */
  readonly workspaceId: string | null;
  /** The only endpoint that a service token is for; null is all of its workspace. */
  readonly endpointId: string | null;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  /** Null is never. */
  readonly expiresAt: number | null;
  /** The beginning of the UTC day. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export type TokenState = "active" | "expired" | "revoked";

const TOKEN_PREFIX = "fat_";
export const DEFAULT_EXPIRY_MS = 90 * DAY_MS;
const MAX_EXPIRY_MS = 3650 * DAY_MS;
/** Who may be told of a token's end this long before. */
export const WARNED_BEFORE_MS = 14 * DAY_MS;
/** What a token may do if its maker chose nothing: look. */
export const DEFAULT_SCOPES: readonly Scope[] = [
  "submissions:read",
  "endpoints:read",
  "recipients:read",
  "workspace:read",
];

export function makeTokenText(): SecretText {
  return makeSecretText(TOKEN_PREFIX);
}

/** Null for anything that no correct program can have issued. */
export function readTokenText(text: string): SecretText | null {
  return readSecretText(TOKEN_PREFIX, text);
}

export function stateOf({ revokedAt, expiresAt }: Token, now: number): TokenState {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

/** Whether it still works and ends within 14 days. */
export function endsSoon(token: Token, now: number): boolean {
  const { expiresAt } = token;
  return stateOf(token, now) === "active" && expiresAt !== null && expiresAt - now <= WARNED_BEFORE_MS;
}

/** The scopes once each, in the order of the list. @throws usage for none */
export function checkScopes(scopes: readonly Scope[]): readonly Scope[] {
  if (scopes.length === 0) throw new FormsvcError("usage", "a token needs at least one scope");
  return SCOPES.filter((scope) => scopes.includes(scope));
}

/** When a token ends that is made now. @param ms null is never. @throws usage */
export function expiryOf(ms: number | null, now: number): number | null {
  if (ms === null) return null;
  if (ms < 1000 || ms > MAX_EXPIRY_MS)
    throw new FormsvcError("usage", "a token lasts from 1 second to 3650 days, or for ever");
  return now + ms;
}
