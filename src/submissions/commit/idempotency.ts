import { hash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { deleteSome } from "../../database/some-rows.ts";
import { first, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { KeyKind } from "../../keys/key-format.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** Time for which a post with the same key gets the first answer again. */
export const REMEMBERED_MS = DAY_MS;
/** The largest number of expired rows deleted in one statement, so that cleaning up never locks the file for long. */
const FORGET_BATCH = 500;

/** A post that carries an `Idempotency-Key`. Both hashes are SHA-256. */
export interface IdempotentPost {
  readonly endpointId: string;
  /** The kind of API key that the post was sent with. A post with a secret key never matches one with a publishable key. */
  readonly kind: KeyKind;
  readonly keyHash: Buffer;
  readonly bodyHash: Buffer;
}

export interface IdempotencyMemory {
  /**
   * Returns the id that the first post with this key got in the last 24 hours, once it is as durable as an acknowledged post; null if there
   * was no such post.
   * @throws conflict if the first post had another body; database_unusable if it is unknown whether the first post is safe.
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

/** Finds the post that used a key. The last parameter is the time since which keys count. */
export const FIRST_SQL = `SELECT body_hash, submission_id, created_at FROM idempotency
  WHERE endpoint_id = ? AND kind = ? AND key_hash = ? AND created_at > ?`;

export interface FirstPost {
  readonly body_hash: Buffer;
  readonly submission_id: string;
  readonly created_at: number;
}

/** Runs inside the transaction that stores the submission. */
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

/** The error for a post whose Idempotency-Key an earlier post had with another body. */
export function otherBody(): FormsvcError {
  return new FormsvcError(
    "conflict",
    "This Idempotency-Key was used with another body; use a new key for a new post.",
  );
}

const DROP_STORED_SQL = deleteSome(
  "held",
  ["id"],
  (id) => `SELECT held.${id} FROM (
    SELECT endpoint_id, kind, key_hash, body_hash, submission_id FROM idempotency
    WHERE created_at <= ? ORDER BY created_at LIMIT ?
  ) AS old
  JOIN held ON held.endpoint_id = old.endpoint_id AND held.sent_kind = old.kind
    AND held.sent_key_hash = old.key_hash AND held.sent_body_hash = old.body_hash
  WHERE EXISTS (SELECT 1 FROM submission WHERE submission.id = old.submission_id)`,
);

/**
 * Drops held posts that were stored later, because their sender sent them again. Of the keys that were recorded up to `before`, it looks at
 * the oldest, at most `limit`. After these are forgotten, nobody could tell that a held post is there twice.
 */
function* dropStoredTwins(before: number, limit: number): Steps<void> {
  yield* run(textByEngine(DROP_STORED_SQL, before, limit));
}

const KEY = ["endpoint_id", "kind", "key_hash"];
const FORGET_SQL = deleteSome(
  "idempotency",
  KEY,
  (key) => `SELECT ${key} FROM idempotency WHERE created_at <= ? ORDER BY created_at LIMIT ?`,
);

/** Deletes up to 500 expired rows, and held posts that were stored under one of these keys meanwhile. Returns the number of rows. */
export function* forgetExpired(now: number): Steps<number> {
  const before = now - REMEMBERED_MS;
  yield* dropStoredTwins(before, FORGET_BATCH);
  return yield* run(textByEngine(FORGET_SQL, before, FORGET_BATCH));
}

const FORGET_OF_ENDPOINT_SQL = deleteSome(
  "idempotency",
  KEY,
  (key) => `SELECT ${key} FROM idempotency WHERE endpoint_id = ? LIMIT ?`,
);

/** Deletes at most `limit` Idempotency-Keys of an endpoint's posts. Returns the number deleted. */
export function forgetKeysOf(endpointId: string, limit: number): Steps<number> {
  return run(textByEngine(FORGET_OF_ENDPOINT_SQL, endpointId, limit));
}

function sha256(content: string | Uint8Array): Buffer {
  return hash("sha256", content, "buffer");
}
