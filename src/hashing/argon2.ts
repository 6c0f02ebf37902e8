import { hash, verify } from "@node-rs/argon2";

/**
 * OWASP's least setting for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. The variant id is
 * the library's default.
 */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** argon2id of a key or password, salted, in PHC format. Runs on the thread pool for tens of milliseconds. */
export function hashSecret(text: string): Promise<string> {
  return hash(text, ARGON2);
}

/** Compares in constant time; the time it takes does not depend on the outcome. */
export function matchesHash(hashed: string, text: string): Promise<boolean> {
  return verify(hashed, text);
}

/** The hash of nothing: comparing with it takes the time of any other, and never matches. */
export const DECOY_HASH = `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`;
