import type { Steps } from "../database/steps.ts";
import { type Keyring, missingKey } from "./keyring.ts";
import { sealedWith } from "./seal.ts";

/** A secret as it is stored. */
export interface StoredSecret {
  /** The table, column and row that it is encrypted for. */
  readonly context: string;
  readonly stored: Buffer;
  /** Replaces the stored form of the same secret. Call in the transaction that listed it. */
  readonly replace: (stored: Buffer) => Steps<unknown>;
}

/** Lists the secrets of a feature. Every feature that stores secrets which the database must give back has such a function. */
export type ListSecrets = () => Steps<readonly StoredSecret[]>;

export function* listSecrets(lists: readonly ListSecrets[]): Steps<StoredSecret[]> {
  const secrets: StoredSecret[] = [];
  for (const list of lists) secrets.push(...(yield* list()));
  return secrets;
}

/** The number of secrets by the id of the key that encrypts them; null stands for unencrypted ones. */
export function* countSecrets(lists: readonly ListSecrets[]): Steps<Map<string | null, number>> {
  return countByKey(yield* listSecrets(lists));
}

/** The same numbers, for secrets that are listed already. */
export function countByKey(secrets: readonly StoredSecret[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { stored } of secrets) {
    const id = sealedWith(stored);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** Checks that all keys are there. @throws config_invalid if a secret is encrypted with a key that is not configured. */
export function* checkKeys(lists: readonly ListSecrets[], keyring: OwnKeys): Steps<void> {
  requireKeys(yield* countSecrets(lists), keyring);
}

type OwnKeys = Pick<Keyring, "ids" | "source">;

/** Checks the keys of secrets that are counted already. @throws config_invalid as {@link checkKeys} does. */
export function requireKeys(counts: ReadonlyMap<string | null, number>, { ids, source }: OwnKeys): void {
  const known = new Set(ids());
  const missing = [...counts.keys()].filter((id) => id !== null && !known.has(id));
  if (missing.length > 0) throw missingKey(missing as string[], source);
}

/** The largest number of secrets that one transaction rewrites; posts wait about ten milliseconds for it. */
const SECRETS_BATCH = 500;

/**
 * Encrypts up to `limit` secrets with the newest key, in the current transaction. If this is interrupted, each secret can still be
 * decrypted with a configured key.
 *
 * @returns the number encrypted; 0 if all are.
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

/** Stores up to `limit` encrypted secrets unencrypted. @returns the number changed; 0 if none is encrypted. */
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
