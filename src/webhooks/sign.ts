import { createHmac, type Hmac, randomBytes, timingSafeEqual } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;
/** Standard Webhooks 1.0 allows symmetric secrets of 24 to 64 bytes. */
const SECRET_MIN_BYTES = 24;
const SECRET_MAX_BYTES = 64;
/**
 * The largest difference between a message's timestamp and the receiver's clock, in either direction. The official libraries use the same.
 */
const TIMESTAMP_TOLERANCE_SECONDS = 300;
/** The largest number of signatures in a header that are read. A sender sends one, or two during a rotation. */
const MAX_SIGNATURES = 16;

/** A new secret in the form that the libraries of receivers take: `whsec_` and the padded standard base64 of 32 bytes. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The key inside a secret. @throws FormsvcError `usage` if the text is not a Standard Webhooks secret. */
export function secretKey(secret: string): Buffer {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : "";
  const key = Buffer.from(encoded, "base64");
  // Node ignores characters that are not base64, so a text is base64 only if it is the encoding of what it decodes to.
  const isCanonical = key.toString("base64") === encoded;
  if (!isCanonical || key.length < SECRET_MIN_BYTES || key.length > SECRET_MAX_BYTES) {
    throw new FormsvcError("usage", "a webhook secret is whsec_ and the padded base64 of 24 to 64 bytes");
  }
  return key;
}

export interface SignedMessage {
  /** The `webhook-id` header. */
  readonly id: string;
  /** The `webhook-timestamp` header. */
  readonly timestamp: string;
  readonly body: Buffer;
}

/** The `webhook-signature` header: one signature for each key, in the order given, which begins with the newest key. */
export function signMessage(message: SignedMessage, keys: readonly Buffer[]): string {
  return keys.map((key) => `v1,${hmac(message, key).digest("base64")}`).join(" ");
}

/**
 * What is wrong with a message for a receiver with these keys, in words; null if the message is genuine and fresh. Signatures are compared
 * in constant time.
 */
export function findSignatureProblem(
  message: SignedMessage,
  signature: string,
  keys: readonly Buffer[],
  nowMs: number,
): string | null {
  if (!/^\d{1,15}$/.test(message.timestamp)) return "webhook-timestamp is not a number of seconds";
  const ageSeconds = Math.floor(nowMs / 1000) - Number(message.timestamp);
  if (ageSeconds > TIMESTAMP_TOLERANCE_SECONDS) return `the timestamp is ${ageSeconds} seconds old`;
  if (ageSeconds < -TIMESTAMP_TOLERANCE_SECONDS) return `the timestamp is ${-ageSeconds} seconds ahead`;
  const signatures = signature
    .split(" ", MAX_SIGNATURES)
    .filter((part) => part.startsWith("v1,"))
    .map((part) => Buffer.from(part.slice(3), "base64"));
  if (signatures.length === 0) return "webhook-signature holds no v1 signature";
  const isGenuine = keys.some((key) => {
    const expected = hmac(message, key).digest();
    return signatures.some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  });
  return isGenuine ? null : "no signature matches: another secret signed it, or the body was changed";
}

function hmac(message: SignedMessage, key: Buffer): Hmac {
  return createHmac("sha256", key).update(`${message.id}.${message.timestamp}.`).update(message.body);
}
