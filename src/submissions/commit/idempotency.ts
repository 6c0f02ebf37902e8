import { hash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { first, run, type Steps, text } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { KeyKind } from "../../keys/key-format.ts";

/** Time for which the first answer of a key is repeated. */
export const REMEMBERED_MS = 24 * 60 * 60 * 1000;
/** Expired rows deleted at once, so that cleaning up never holds the file for long. */
const FORGET_BATCH = 500;

/** A post that carries an `Idempotency-Key`. Both hashes are SHA-256. */
export interface IdempotentPost {
  readonly endpointId: string;
  /** Posts with one kind of key never meet those with the other. */
  readonly kind: KeyKind;
  readonly keyHash: Buffer;
  readonly bodyHash: Buffer;
}

export interface IdempotencyMemory {
  /**
   * The id that the first post with this key was given in the last 24 h, as durable as an acknowledged post; null when this is the first.
   * @throws conflict when the first post had another body; database_unusable when it is not known whether the first post is safe.
   */
  recall(post: IdempotentPost, now: number): Promise<string | null>;
}

/**
 * @param header the header's value; undefined if there is none.
 * @throws invalid_request when it is not 1 to 255 visible ASCII characters.
 */
export function readIdempotencyKey(
  header: string | undefined,
  { endpointId, kind }: Pick<IdempotentPost, "endpointId" | "kind">,
  body: Uint8Array,
): IdempotentPost | null {
  if (header === undefined) return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw new FormsvcError(
      "invalid_request",
      "The Idempotency-Key header must be 1 to 255 visible ASCII characters.",
      {
        details: { "Idempotency-Key": "expected 1 to 255 visible ASCII characters" },
      },
    );
  }
  return { endpointId, kind, keyHash: sha256(header), bodyHash: sha256(body) };
}

const FIRST_SQL = `SELECT body_hash, submission_id FROM idempotency
  WHERE endpoint_id = ? AND kind = ? AND key_hash = ? AND created_at > ?`;

interface FirstPost {
  readonly body_hash: Buffer;
  readonly submission_id: string;
}

/** Inside the transaction that stores the submission. */
export const RECORD_KEY_SQL = `INSERT OR REPLACE INTO idempotency
  (endpoint_id, kind, key_hash, body_hash, submission_id, created_at) VALUES (?, ?, ?, ?, ?, ?)`;

export function createIdempotencyMemory(db: Database): IdempotencyMemory {
  return {
    async recall({ endpointId, kind, keyHash, bodyHash }, now) {
      const asked = text<FirstPost>(FIRST_SQL, endpointId, kind, keyHash, now - REMEMBERED_MS);
      const row = await db.read(() => first(asked));
      if (row === undefined) return null;
      if (!row.body_hash.equals(bodyHash)) throw otherBody();
      await db.confirmReads();
      return row.submission_id;
    },
  };
}

/** The refusal of a key that a post with another body had. */
export function otherBody(): FormsvcError {
  return new FormsvcError(
    "conflict",
    "This Idempotency-Key was used with another body; use a new key for a new post.",
  );
}

const FORGET_SQL = `DELETE FROM idempotency WHERE (endpoint_id, kind, key_hash) IN
  (SELECT endpoint_id, kind, key_hash FROM idempotency WHERE created_at <= ? ORDER BY created_at LIMIT ?)`;

/** Deletes up to 500 expired rows. Returns the number deleted. */
export function forgetExpired(now: number): Steps<number> {
  return run(text(FORGET_SQL, now - REMEMBERED_MS, FORGET_BATCH));
}

const FORGET_OF_ENDPOINT_SQL = `DELETE FROM idempotency WHERE endpoint_id = ? AND (kind, key_hash) IN
  (SELECT kind, key_hash FROM idempotency WHERE endpoint_id = ? LIMIT ?)`;

/** Deletes at most `limit` keys that an endpoint's posts carried. Returns the number deleted. */
export function forgetKeysOf(endpointId: string, limit: number): Steps<number> {
  return run(text(FORGET_OF_ENDPOINT_SQL, endpointId, endpointId, limit));
}

function sha256(content: string | Uint8Array): Buffer {
  return hash("sha256", content, "buffer");
}
