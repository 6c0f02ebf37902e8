import type { Steps } from "../database/steps.ts";
import { type Keyring, missingKey } from "./keyring.ts";
import { sealedWith } from "./seal.ts";

/** One secret as it is stored. */
export interface StoredSecret {
  /** Table, column and row: what it is sealed for. */
  readonly context: string;
  readonly stored: Buffer;
  /** Stores another form of the same secret, in the transaction that listed it. */
  readonly replace: (stored: Buffer) => Steps<unknown>;
}

/** Every feature that stores recoverable secrets has one of these. */
export type ListSecrets = () => Steps<readonly StoredSecret[]>;

export function* listSecrets(lists: readonly ListSecrets[]): Steps<StoredSecret[]> {
  const secrets: StoredSecret[] = [];
  for (const list of lists) secrets.push(...(yield* list()));
  return secrets;
}

/** How many secrets are sealed with each key, by its id; null is plain. */
export function* countSecrets(lists: readonly ListSecrets[]): Steps<Map<string | null, number>> {
  return countByKey(yield* listSecrets(lists));
}

/** The same for secrets that were listed. */
export function countByKey(secrets: readonly StoredSecret[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { stored } of secrets) {
    const id = sealedWith(stored);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** @throws config_invalid if a secret is sealed with a key that is not configured. */
export function* checkKeys(lists: readonly ListSecrets[], keyring: OwnKeys): Steps<void> {
  requireKeys(yield* countSecrets(lists), keyring);
}

type OwnKeys = Pick<Keyring, "ids" | "source">;

/** The same for secrets that were counted. */
export function requireKeys(counts: ReadonlyMap<string | null, number>, { ids, source }: OwnKeys): void {
  const known = new Set(ids());
  const missing = [...counts.keys()].filter((id) => id !== null && !known.has(id));
  if (missing.length > 0) throw missingKey(missing as string[], source);
}

/** Secrets that one transaction rewrites: posts wait about ten milliseconds for it. */
export const SECRETS_BATCH = 500;

/**
 * Seals up to `limit` secrets with the newest key, in its transaction. If it is interrupted, each secret still opens with a key
 * that is there.
 *
 * @returns how many; 0 when all are.
 */
export function encryptSome(
  lists: readonly ListSecrets[],
  keyring: Keyring,
  limit = SECRETS_BATCH,
): Steps<number> {
  const [newest] = keyring.ids();
  const rewrite = (plain: Buffer, context: string): Buffer => keyring.seal(plain, context);
  return rewriteSome(lists, keyring, { isDue: (id) => id !== newest, rewrite }, limit);
}

/** The way back: stores up to `limit` sealed secrets plain. @returns how many; 0 when all are. */
export function decryptSome(
  lists: readonly ListSecrets[],
  keyring: Keyring,
  limit = SECRETS_BATCH,
): Steps<number> {
  return rewriteSome(lists, keyring, { isDue: (id) => id !== null, rewrite: (plain) => plain }, limit);
}

interface Rewriting {
  readonly isDue: (sealedWith: string | null) => boolean;
  readonly rewrite: (plain: Buffer, context: string) => Buffer;
}

function* rewriteSome(
  lists: readonly ListSecrets[],
  keyring: Keyring,
  { isDue, rewrite }: Rewriting,
  limit: number,
): Steps<number> {
  const secrets = yield* listSecrets(lists);
  const due = secrets.filter(({ stored }) => isDue(sealedWith(stored))).slice(0, limit);
  for (const { context, stored, replace } of due) {
    yield* replace(rewrite(keyring.open(stored, context), context));
  }
  return due.length;
}
