import { randomBytes } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";
import { createKey, KEY_BYTES, type SecretKey } from "./seal.ts";

/** The largest number of keys. Each backup that is kept may need a key of its own, and rotation is rare. */
const MAX_KEYS = 32;

/**
 * Parses keys, the newest first. Each key is the padded base64 of 32 bytes, on a line of its own or separated by commas. Text after a `#`
 * is a comment.
 *
 * @param source where the text comes from, for the error, which never repeats the text.
 * @throws config_invalid
 */
export function parseKeys(text: string, source: string): readonly SecretKey[] {
  const words = text
    .replace(/#.*$/gm, "")
    .split(/[\s,]+/)
    .filter((word) => word !== "");
  if (words.length === 0) throw invalid(source, `there is no key in it; ${ADVICE}`);
  if (words.length > MAX_KEYS)
    throw invalid(source, `more than ${MAX_KEYS} keys; take out those that no backup needs`);
  return words.map((word, index) => {
    const bytes = Buffer.from(word, "base64");
    // Node ignores characters that are not base64, so a text is base64 only if it is the encoding of what it decodes to.
    if (bytes.length === KEY_BYTES && bytes.toString("base64") === word) return createKey(bytes);
    throw invalid(source, `key ${index + 1} is not the base64 of ${KEY_BYTES} bytes; ${ADVICE}`);
  });
}

const ADVICE = "make one with: openssl rand -base64 32";

/** The text of a key file with a new key above its old ones. */
export function withNewKey(text: string, madeAt: string): string {
  const bytes = randomBytes(KEY_BYTES);
  return `# ${createKey(bytes).id}, made ${madeAt}\n${bytes.toString("base64")}\n${text}`;
}

function invalid(source: string, problem: string): FormsvcError {
  return new FormsvcError("config_invalid", `${source}: ${problem}`);
}
