import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { Semaphore } from "../foundation/semaphore.ts";
import { hashSecret } from "../hashing/argon2.ts";
import { type KeyKind, makeKey, type ParsedKey } from "./key-format.ts";
import { endKey, getKey, hasEnded, insertKey, type Key } from "./key-store.ts";

/** A key with its text, which exists nowhere else and is shown once. */
export interface IssuedKey {
  readonly key: Key;
  readonly text: string;
}

/** A key that is made and hashed but not stored yet: hashing takes tens of milliseconds, too long inside a transaction. */
export interface PreparedKey {
  readonly parsed: ParsedKey;
  readonly hash: string;
}

/** One key is hashed at a time in this process; workspaces take turns, so that nobody's many keys hold up another's one. */
const making = new Semaphore({
  maxRunning: 1,
  maxWaiting: 64,
  refusal: "Too many keys are being made; try again shortly.",
});

/** @param workspace any name of the workspace that it is for. @throws unavailable when too many wait */
export async function prepareKey(kind: KeyKind, workspace: string): Promise<PreparedKey> {
  const parsed = makeKey(kind);
  return { parsed, hash: await making.run(() => hashSecret(parsed.text), workspace) };
}

/** Inside a transaction. */
export function* storeKey(endpointId: string, prepared: PreparedKey, now: number): Steps<IssuedKey> {
  return { key: yield* insertKey({ endpointId, ...prepared }, now), text: prepared.parsed.text };
}

/**
 * Issues a successor of the same kind for the same endpoint and ends the old key after `graceMs`. Inside a transaction.
 *
 * @throws not_found; conflict when the key is revoked already.
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

/** Refuses the key from now on, in running servers within a second. Revoking twice changes nothing. @throws not_found */
export function* revokeKey(reference: string, now: number): Steps<Key> {
  return yield* endKey(yield* getKey(reference), now, now);
}
