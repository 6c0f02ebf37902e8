import { hash } from "@node-rs/argon2";
import type { PreparedKey } from "../../src/keys/issue-key.ts";
import { type KeyKind, makeKey } from "../../src/keys/key-format.ts";

/** The least that argon2 can cost: memory in KiB, passes, lanes. */
const LEAST = { memoryCost: 8, timeCost: 1, parallelism: 1 } as const;

/**
 * A key for what is not about keys. It is made as the product makes one but for the cost of its hash, which is in the hash itself, so
 * that a server proves the key at that cost too. Tests of keys use `prepareKey`.
 */
export async function prepareQuickKey(kind: KeyKind): Promise<PreparedKey> {
  const parsed = makeKey(kind);
  return { parsed, hash: await hash(parsed.text, LEAST) };
}
