import { query } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { first, run, type Steps, text, textByEngine } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { DAY_MS } from "../foundation/time-units.ts";

/** A request with an `Idempotency-Key`. Both hashes are SHA-256. */
export interface KeyedRequest {
  /** Whose requests count together: those of an account, or of the service tokens of a workspace. */
  readonly owner: string;
  readonly operation: string;
  readonly keyHash: Buffer;
  readonly bodyHash: Buffer;
}

/** The answer to the first request with a key, without secrets. */
export interface KeptAnswer {
  readonly status: number;
  readonly answer: unknown;
}

/** Thrown to end a transaction if the key turns out to be known. */
export class AnsweredBefore extends Error {
  readonly kept: KeptAnswer;

  constructor(kept: KeptAnswer) {
    super("the request was answered before");
    this.kept = kept;
  }
}

/** The time for which the first answer of a key is repeated. */
const KEPT_MS = DAY_MS;
/** The largest number of keys that one owner may use in that time. */
const MAX_KEYS = 10_000;
/** The largest number of bytes of an answer that is kept; after a larger one, the request cannot be repeated. */
const MAX_ANSWER_BYTES = 262_144;
/** With more bytes of kept answers than this, an owner may use no further key: all workspaces share the disk. */
const MAX_KEPT_BYTES = 16_777_216;
/** The largest number of rows that one transaction deletes. */
const BATCH_SIZE = 500;

/**
 * The kept answer for a key; null if the key is new. @throws conflict if the first request with the key had another body, has not ended, or
 * cannot be repeated.
 */
export function* recallAnswer(request: KeyedRequest, now: number): Steps<KeptAnswer | null> {
  const row = yield* first(
    query
      .selectFrom("api_answer")
      .selectAll()
      .where("owner", "=", request.owner)
      .where("operation", "=", request.operation)
      .where("key_hash", "=", request.keyHash)
      .where("created_at", ">", now - KEPT_MS),
  );
  if (row === undefined) return null;
  if (!row.body_hash.equals(request.bodyHash))
    throw new FormsvcError(
      "conflict",
      "this Idempotency-Key was used with another body; use a new key for a new request",
    );
  if (row.answer === null)
    throw new FormsvcError(
      "conflict",
      "the first request with this Idempotency-Key has no answer yet, or none that can be repeated: look at what it did",
    );
  return { status: row.status, answer: JSON.parse(row.answer) as unknown };
}

const COUNT_SQL =
  "SELECT count(*) AS keys, coalesce(sum(octet_length(answer)), 0) AS bytes FROM api_answer WHERE owner = ?";

/** Stores the key. Call at the beginning of the transaction that does the work. @throws AnsweredBefore, conflict, rate_limited */
export function* claimKey(request: KeyedRequest, now: number): Steps<void> {
  const kept = yield* recallAnswer(request, now);
  if (kept !== null) throw new AnsweredBefore(kept);
  const { owner, operation, keyHash, bodyHash } = request;
  yield* forgetAnswer(request);
  const counted = yield* first(text<{ keys: number; bytes: number }>(COUNT_SQL, owner));
  if ((counted?.keys ?? 0) >= MAX_KEYS) throw tooMuch(`more than ${MAX_KEYS} Idempotency-Keys were used`);
  if ((counted?.bytes ?? 0) >= MAX_KEPT_BYTES)
    throw tooMuch(
      `answers of more than ${MAX_KEPT_BYTES / 1_048_576} MiB were kept for your Idempotency-Keys; ask without one, or for less at once`,
    );
  yield* run(
    query.insertInto("api_answer").values({
      owner,
      operation,
      key_hash: keyHash,
      body_hash: bodyHash,
      status: 0,
      answer: null,
      created_at: now,
    }),
  );
}

function tooMuch(what: string): FormsvcError {
  return new FormsvcError("rate_limited", `in 24 hours ${what}`, { retryAfterSeconds: 3600 });
}

function forgetAnswer({ owner, operation, keyHash }: KeyedRequest): Steps<number> {
  const rows = query.deleteFrom("api_answer").where("owner", "=", owner);
  return run(rows.where("operation", "=", operation).where("key_hash", "=", keyHash));
}

/** Stores the answer. Call in the transaction that does the work, or after it. @param kept the answer without secrets. */
export function* keepAnswer(
  { owner, operation, keyHash }: KeyedRequest,
  { status, answer }: KeptAnswer,
): Steps<void> {
  const written = JSON.stringify(answer);
  yield* run(
    query
      .updateTable("api_answer")
      .set({ status, answer: Buffer.byteLength(written) > MAX_ANSWER_BYTES ? null : written })
      .where("owner", "=", owner)
      .where("operation", "=", operation)
      .where("key_hash", "=", keyHash),
  );
}

const DROP_SQL = deleteSome(
  "api_answer",
  ["owner", "operation", "key_hash"],
  (key) => `SELECT ${key} FROM api_answer WHERE created_at <= ? ORDER BY created_at LIMIT ?`,
);

/** Deletes up to 500 answers that are older than 24 hours. Returns the number deleted. */
export function dropOldAnswers(now: number): Steps<number> {
  return run(textByEngine(DROP_SQL, now - KEPT_MS, BATCH_SIZE));
}
