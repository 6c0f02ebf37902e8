import { hash, verify } from "@node-rs/argon2";

/**
 * The lowest setting for argon2id that OWASP recommends (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. The library uses
 * argon2id by default.
 */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The argon2id hash of a key or password, with a salt, in PHC format. Runs on the thread pool for tens of milliseconds. */
export function hashSecret(text: string): Promise<string> {
  return hash(text, ARGON2);
}

/** Compares a text with a hash in constant time, whatever the outcome is. */
export function matchesHash(hashed: string, text: string): Promise<boolean> {
  return verify(hashed, text);
}

/** A hash that no text matches. Comparing with it takes the time of any other comparison. */
export const DECOY_HASH = `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`;
