import { hash, verify } from "@node-rs/argon2";

/**
 * OWASP's least setting for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. The variant id is
 * the library's default.
 */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** argon2id of a key, salted, in PHC format. Runs on the thread pool for tens of milliseconds. */
export function hashKey(text: string): Promise<string> {
  return hash(text, ARGON2);
}

/** Compares in constant time; the time it takes does not depend on the outcome. */
export function matchesHash(hashed: string, text: string): Promise<boolean> {
  return verify(hashed, text);
}
