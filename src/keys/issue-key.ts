import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { Semaphore } from "../foundation/semaphore.ts";
import { hashSecret } from "../hashing/argon2.ts";
import { type KeyKind, makeKey, type ParsedKey } from "./key-format.ts";
import { endKey, getKey, hasEnded, insertKey, type Key } from "./key-store.ts";

/** A new key with its text, which is shown once and stored nowhere. */
export interface IssuedKey {
  readonly key: Key;
  readonly text: string;
}

/** A key that is made and hashed but not yet stored: hashing takes tens of milliseconds, which is too long inside a transaction. */
export interface PreparedKey {
  readonly parsed: ParsedKey;
  readonly hash: string;
}

/** This process hashes one key at a time. Workspaces take turns, so that many keys of one do not hold up a key of another. */
const making = new Semaphore({
  maxRunning: 1,
  maxWaiting: 64,
  refusal: "too many keys are being made; try again shortly",
});

/** Makes a key. @param workspace any name of its workspace, to take turns. @throws unavailable if too many wait. */
export async function prepareKey(kind: KeyKind, workspace: string): Promise<PreparedKey> {
  const parsed = makeKey(kind);
  return { parsed, hash: await making.run(() => hashSecret(parsed.text), workspace) };
}

/** Stores a prepared key. Call inside a transaction. */
export function* storeKey(endpointId: string, prepared: PreparedKey, now: number): Steps<IssuedKey> {
  return { key: yield* insertKey({ endpointId, ...prepared }, now), text: prepared.parsed.text };
}

/**
 * Issues a key of the same kind for the same endpoint, and ends the old key after `graceMs`. Call inside a transaction.
 *
 * @throws not_found; conflict if the key is already revoked.
 */
export function* succeedKey(
  reference: string,
  prepared: PreparedKey,
  graceMs: number,
  now: number,
): Steps<IssuedKey> {
  const old = yield* getKey(reference);
  if (hasEnded(old, now)) {
    throw new FormsvcError("conflict", `the key ${old.id} is revoked`, { hint: { kind: "issue_key" } });
  }
  yield* endKey(old, now + graceMs, now);
  return yield* storeKey(old.endpointId, prepared, now);
}

/** Refuses the key from now on; running servers follow within a second. A second call changes nothing. @throws not_found */
export function* revokeKey(reference: string, now: number): Steps<Key> {
  return yield* endKey(yield* getKey(reference), now, now);
}
