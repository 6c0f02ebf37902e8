import { hash, timingSafeEqual } from "node:crypto";

/**
 * A tag recognises most texts that were made up around a key's 12 public characters, without the slow hash. It has 32 bits, so one of four
 * billion made-up texts fits it.
 *
 * Somebody who has the database has the tags, and can reject a candidate at the cost of one SHA-256 instead of one argon2id. This does not
 * help to find a key: its random part has 190 bits, so there are 2^190 candidates to hash, and 2^158 of them fit the tag. Even a tag of the
 * whole SHA-256 would need 2^190 hashes, which nobody can compute. Passwords have far fewer bits, so they have no tag. The tag is short
 * because that is enough, and because it alone cannot confirm that a text is the key.
 */
const TAG_BYTES = 4;

export function tagOf(text: string): Buffer {
  return hash("sha256", `tag of the key ${text}`, "buffer").subarray(0, TAG_BYTES);
}

/** Whether the text may be the key with this tag. If the tag is not known yet, any text may be. */
export function fitsTag(tag: Buffer | null, text: string): boolean {
  return tag === null || timingSafeEqual(tag, tagOf(text));
}
