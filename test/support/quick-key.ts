import { hash } from "@node-rs/argon2";
import type { PreparedKey } from "../../src/keys/issue-key.ts";
import { type KeyKind, makeKey } from "../../src/keys/key-format.ts";

/** The lowest costs that argon2 accepts: memory in KiB, passes, lanes. */
const LEAST = { memoryCost: 8, timeCost: 1, parallelism: 1 } as const;

/**
 * Makes a key for tests that are not about keys. It is like a real key, except for the cost of its hash. The hash itself contains the cost,
 * so a server also checks the key at this cost. Tests of keys use `prepareKey`.
 */
export async function prepareQuickKey(kind: KeyKind): Promise<PreparedKey> {
  const parsed = makeKey(kind);
  return { parsed, hash: await hash(parsed.text, LEAST) };
}
