import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { StoredSecret } from "../secrets/stored-secret.ts";

/** The task that a form sets its visitors, so that a robot cannot post with texts alone. */
export interface Challenge {
  /** `pow` is a proof of work that the browser does. The others are services that check a token with the owner's secret. */
  readonly kind: "off" | "pow" | Vendor;
  /** Whether posts without a solution are refused; if not, it only counts for the score. */
  readonly isRequired: boolean;
  /** The public key by which a service knows the page. */
  readonly siteKey: string | null;
}

export type Vendor = "turnstile" | "hcaptcha";

export const CHALLENGE_KINDS = ["off", "pow", "turnstile", "hcaptcha"] as const;

export const NO_CHALLENGE: Challenge = { kind: "off", isRequired: false, siteKey: null };

/** The body's member that holds the solution for each kind. It is never a field unless the schema declares it. */
export const CHALLENGE_MEMBERS = {
  pow: "_pow",
  turnstile: "cf-turnstile-response",
  hcaptcha: "h-captcha-response",
} as const satisfies Record<Exclude<Challenge["kind"], "off">, string>;

const MAX_KEY_LENGTH = 200;

/** @throws usage */
export function checkChallenge({ kind, isRequired, siteKey }: Challenge): Challenge {
  if (siteKey !== null && !(siteKey.length <= MAX_KEY_LENGTH && /^[\w.-]+$/.test(siteKey)))
    throw new FormsvcError(
      "usage",
      `not a site key: ${JSON.stringify(siteKey.slice(0, MAX_KEY_LENGTH))}; it has letters, digits, hyphens and underscores`,
    );
  return { kind, isRequired, siteKey };
}

/** The value that is stored; null for a form that never had a challenge. */
export function challengeColumn(challenge: Challenge): string | null {
  const { kind, isRequired, siteKey } = challenge;
  return kind === "off" && !isRequired && siteKey === null ? null : JSON.stringify(challenge);
}

export function readChallengeColumn(column: string | null): Challenge {
  return column === null ? NO_CHALLENGE : { ...NO_CHALLENGE, ...(JSON.parse(column) as Partial<Challenge>) };
}

/** Whether a service checks the challenge. */
export function isVendor(kind: Challenge["kind"]): kind is Vendor {
  return kind === "turnstile" || kind === "hcaptcha";
}

function contextOf(endpointId: string): string {
  return `endpoint.challenge_secret ${endpointId}`;
}

/** @throws usage */
export function checkChallengeSecret(secret: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(secret)) return secret;
  throw new FormsvcError("usage", "a challenge's secret is 1 to 200 visible ASCII characters in one line");
}

/** Stores the secret that the service gave the owner; null removes it. @throws usage */
export function* writeChallengeSecret(
  keyring: Keyring,
  endpointId: string,
  secret: string | null,
): Steps<void> {
  const plain = secret === null ? null : Buffer.from(checkChallengeSecret(secret));
  const sealed = plain === null ? null : keyring.seal(plain, contextOf(endpointId));
  yield* run(
    query
      .updateTable("endpoint")
      .set({ challenge_secret: sealed, challenge_fault: null })
      .where("id", "=", endpointId),
  );
}

/** Reads the secret of the service; null if the owner gave none. */
export function* readChallengeSecret(keyring: Keyring, endpointId: string): Steps<string | null> {
  const row = yield* first(
    query.selectFrom("endpoint").select("challenge_secret").where("id", "=", endpointId),
  );
  const stored = row?.challenge_secret ?? null;
  return stored === null ? null : keyring.open(stored, contextOf(endpointId)).toString();
}

/** Why the service gives no verdict on the form's posts now; null if it does. */
export function* readVendorFault(endpointId: string): Steps<string | null> {
  const columns = ["challenge_secret", "challenge_fault"] as const;
  const row = yield* first(query.selectFrom("endpoint").select(columns).where("id", "=", endpointId));
  return row === undefined ? null : vendorFault(row);
}

export function vendorFault(row: {
  readonly challenge_secret: Buffer | null;
  readonly challenge_fault: string | null;
}): string | null {
  return row.challenge_secret === null ? "no secret is set" : row.challenge_fault;
}

/** Stores why the service gave no verdict; null if it gave one. */
export function* writeChallengeFault(endpointId: string, fault: string | null): Steps<void> {
  yield* run(query.updateTable("endpoint").set({ challenge_fault: fault }).where("id", "=", endpointId));
}

/** The secrets of services, each with the step that replaces it, for encrypting and decrypting them. */
export function* listChallengeSecrets(): Steps<StoredSecret[]> {
  const rows = yield* all(
    query.selectFrom("endpoint").select(["id", "challenge_secret"]).where("challenge_secret", "is not", null),
  );
  return rows.map(({ id, challenge_secret: stored }) => ({
    context: contextOf(id),
    stored: stored ?? Buffer.alloc(0),
    replace: (sealed: Buffer): Steps<unknown> =>
      run(query.updateTable("endpoint").set({ challenge_secret: sealed }).where("id", "=", id)),
  }));
}
