import { hash, timingSafeEqual } from "node:crypto";

/**
 * A tag tells a text that was made up around a key's 12 public characters from the key, without the slow hash. Of 32 bits, one of four
 * billion made-up texts fits.
 *
 * Whoever has the database has the tag, and may sort out candidates by it at the cost of one SHA-256 each instead of one argon2id. That
 * finds no key: its random part has 190 bits, so there are 2^190 candidates to be hashed, of which 2^158 are left. Even a tag of the whole
 * SHA-256 would leave 2^190 hashes to compute, which nobody can; passwords have far fewer bits, so they have no tag. A short one is kept
 * because it is enough, and because nobody can confirm by it alone that a text is the key.
 */
const TAG_BYTES = 4;

export function tagOf(text: string): Buffer {
  return hash("sha256", `tag of the key ${text}`, "buffer").subarray(0, TAG_BYTES);
}

/** Whether the text may be the key with this tag. Any may be one whose tag is not known yet. */
export function fitsTag(tag: Buffer | null, text: string): boolean {
  return tag === null || timingSafeEqual(tag, tagOf(text));
}
