import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";

/** A key that encrypts secrets. It is a key object, so that printing it shows nothing. */
export interface SecretKey {
  /** 8 hexadecimal digits that are derived from the key and reveal nothing of it. Every encrypted secret contains the id of its key. */
  readonly id: string;
  readonly key: KeyObject;
}

export const KEY_BYTES = 32;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The version, the id of the key, and the base64url of nonce, ciphertext and tag. The shortest encrypted text is longer than any
 * unencrypted signing key.
 */
const SEALED = /^enc1:([0-9a-f]{8}):([\w-]{38,})$/;

/** @param bytes 32 random bytes. */
export function createKey(bytes: Buffer): SecretKey {
  const id = createHmac("sha256", bytes).update("formsvc key id").digest("hex").slice(0, 8);
  return { id, key: createSecretKey(bytes) };
}

/** The id of the key that a stored secret is encrypted with; null if it is not encrypted. */
export function sealedWith(stored: Buffer): string | null {
  return SEALED.exec(stored.toString("latin1"))?.[1] ?? null;
}

/**
 * Encrypts a secret to ASCII text that begins with the id of the key.
 *
 * @param context the table, column and row in which it is stored. It can be decrypted only with the same context.
 */
export function seal({ id, key }: SecretKey, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(id, context));
  const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return Buffer.from(`enc1:${id}:${sealed.toString("base64url")}`);
}

/**
 * Decrypts a secret.
 *
 * @param key the key that {@link sealedWith} names.
 * @throws database_unusable if the text was changed, or was encrypted with another context.
 */
export function unseal({ id, key }: SecretKey, stored: Buffer, context: string): Buffer {
  const sealed = Buffer.from(SEALED.exec(stored.toString("latin1"))?.[2] ?? "", "base64url");
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(boundTo(id, context))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    const message = `${context}: the encrypted secret was changed, or moved here from another row`;
    throw new FormsvcError("database_unusable", message, { cause: error });
  }
}

function boundTo(id: string, context: string): Buffer {
  return Buffer.from(`enc1:${id}:${context}`);
}
