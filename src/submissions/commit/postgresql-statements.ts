import { numberMarks } from "../../database/number-parameters.ts";
import type { BatchStatement, BatchTransaction } from "../../database/postgresql/batch-connection.ts";
import { EVICT_CALL, EVICT_ORIGINS_SQL } from "../held/evict-held.ts";
import { hashOfRetry, type HeldPost } from "../held/held-post.ts";
import type { PendingHeld } from "./batch.ts";
import { REMEMBERED_MS } from "./idempotency.ts";
import { CONTENT_COLUMNS, contentValues, type Submission } from "../stored/submission.ts";

const CONTENT = CONTENT_COLUMNS.join(", ");

/** The columns that submissions and held posts share, as JSON for one row. A column that is NULL is left out. */
export type ContentJson = Partial<Record<(typeof CONTENT_COLUMNS)[number], string | number>>;

export function contentJson(submission: Submission | HeldPost): ContentJson {
  const values = contentValues(submission);
  const row: ContentJson = {};
  for (const [index, column] of CONTENT_COLUMNS.entries()) {
    const value = values[index] ?? null;
    if (value !== null) row[column] = value;
  }
  // All other texts are ASCII, or JSON, which escapes the characters that PostgreSQL's text cannot hold.
  row.user_agent = submission.userAgent.toWellFormed().replaceAll("\0", "\uFFFD");
  return row;
}

/** Finds which of these submissions are stored. */
export const FIND_STORED: BatchStatement = {
  name: "find_stored",
  text: "SELECT id FROM submission WHERE id = ANY($1::text[])",
};

/** The parameter is a JSON array of {@link ContentJson} with `endpoint_number`, `event_head`, `event_tail` and `not_sent`. */
export const INSERT_SUBMISSIONS: BatchStatement = {
  name: "insert_submissions",
  text: `INSERT INTO submission (${CONTENT}, endpoint_number, event_head, event_tail, not_sent)
    SELECT ${CONTENT}, endpoint_number, event_head, event_tail, not_sent
    FROM json_populate_recordset(NULL::submission, $1::json)`,
};

/** The parameter is a JSON array of {@link ScanWaitJson}. */
const AWAIT_VERDICTS: BatchStatement = {
  name: "await_verdicts",
  text: `INSERT INTO scan_wait (submission_id, until, recipients)
    SELECT submission_id, until, recipients FROM json_populate_recordset(NULL::scan_wait, $1::json)
    ON CONFLICT DO NOTHING`,
};

export interface ScanWaitJson {
  readonly submission_id: string;
  readonly until: number;
  /** The recipients whose messages wait, in the form of `EventParts.waiting`. */
  readonly recipients: string | undefined;
}

/** Makes the messages about these submissions wait until their files are scanned. */
export function awaitVerdicts(
  transaction: BatchTransaction,
  waiting: readonly ScanWaitJson[],
): Promise<unknown>[] {
  return waiting.length === 0 ? [] : [transaction.query(AWAIT_VERDICTS, JSON.stringify(waiting))];
}

/** The Idempotency-Key of a post, for JSON; the hashes are hexadecimal. */
export interface KeyJson {
  readonly endpoint_id: string;
  readonly kind: string;
  readonly key_hash: string;
  readonly body_hash: string;
  readonly submission_id: string;
  readonly created_at: number;
}

const KEYS = `post(endpoint_id text, kind text, key_hash text, body_hash text,
  submission_id text, created_at bigint)`;
const OF_POST = `idempotency.endpoint_id = post.endpoint_id AND idempotency.kind = post.kind
  AND idempotency.key_hash = decode(post.key_hash, 'hex')`;

/**
 * Records the keys that no other post used in the last 24 hours, and returns the submissions whose keys were recorded. The parameter is a
 * JSON array of {@link KeyJson}. The row of a key that another post used is locked.
 */
export const RECORD_KEYS: BatchStatement = {
  name: "record_keys",
  text: `INSERT INTO idempotency (endpoint_id, kind, key_hash, body_hash, submission_id, created_at)
    SELECT endpoint_id, kind, decode(key_hash, 'hex'), decode(body_hash, 'hex'), submission_id, post.created_at
    FROM json_to_recordset($1::json) AS ${KEYS}
      JOIN endpoint_number USING (endpoint_id) ORDER BY 1, 2, 3
    ON CONFLICT (endpoint_id, kind, key_hash) DO UPDATE
      SET body_hash = excluded.body_hash, submission_id = excluded.submission_id, created_at = excluded.created_at
      WHERE idempotency.created_at <= excluded.created_at - ${REMEMBERED_MS}
        OR idempotency.submission_id = excluded.submission_id
    RETURNING submission_id`,
};

/** The first post that used an Idempotency-Key. */
export interface FirstRow {
  /** The id of the later post, which used the same key. */
  readonly asked_id: string;
  readonly submission_id: string;
  readonly has_same_body: boolean;
}

/** Finds the first posts of keys that belong to other submissions than the given ones. The parameter is a JSON array of {@link KeyJson}. */
export const FIND_FIRST: BatchStatement = {
  name: "find_first",
  text: `SELECT post.submission_id AS asked_id, idempotency.submission_id,
      idempotency.body_hash = decode(post.body_hash, 'hex') AS has_same_body
    FROM json_to_recordset($1::json) AS ${KEYS} JOIN idempotency ON ${OF_POST}`,
};

/** Forgets keys that were recorded for posts that are not stored after all. The parameter is a JSON array of {@link KeyJson}. */
export const FORGET_KEYS: BatchStatement = {
  name: "forget_keys",
  text: `DELETE FROM idempotency USING json_to_recordset($1::json) AS ${KEYS}
    WHERE ${OF_POST} AND idempotency.submission_id = post.submission_id`,
};

/**
 * Hashes are in the text form of a bytea. Rows are inserted in the order of workspace and network, because triggers lock rows of counts:
 * so every batch locks them in the same order.
 */
const INSERT_HELD: BatchStatement = {
  name: "insert_held",
  text: `INSERT INTO held (${CONTENT}, workspace_id, endpoint_id, why, trapped, network, key_hash, bytes, origin,
      sent_kind, sent_key_hash, sent_body_hash)
    SELECT ${CONTENT}, workspace_id, endpoint_id, why, trapped, network, key_hash, bytes, origin,
      sent_kind, sent_key_hash, sent_body_hash
    FROM json_populate_recordset(NULL::held, $1::json)
    ORDER BY workspace_id, network, id ON CONFLICT DO NOTHING`,
};

export function writeHeld(
  transaction: BatchTransaction,
  pending: readonly PendingHeld[],
): Promise<unknown>[] {
  if (pending.length === 0) return [];
  const rows = pending.map(({ held, trapped, network, idempotent, bytes }) => ({
    ...contentJson(held),
    workspace_id: held.workspaceId,
    endpoint_id: held.endpointId,
    why: held.why,
    trapped: trapped ? 1 : 0,
    network,
    key_hash: idempotent && byteaOf(hashOfRetry(idempotent)),
    bytes,
    origin: held.origin ?? null,
    sent_kind: idempotent && idempotent.kind,
    sent_key_hash: idempotent && byteaOf(idempotent.keyHash),
    sent_body_hash: idempotent && byteaOf(idempotent.bodyHash),
  }));
  return [transaction.query(INSERT_HELD, JSON.stringify(rows))];
}

/** The text form of a bytea. */
function byteaOf(bytes: Buffer): string {
  return `\\x${bytes.toString("hex")}`;
}

/** Parameter: the workspace. */
export const COUNT_HELD: BatchStatement = {
  name: "count_held",
  text: "SELECT posts, bytes FROM held_total WHERE workspace_id = $1",
};

/** The parameters are those of {@link EVICT_CALL}. */
export const EVICT_HELD: BatchStatement = { name: "evict_held", text: numberMarks(EVICT_CALL) };

/** Parameter: the endpoint. */
export const EVICT_ORIGINS: BatchStatement = {
  name: "evict_origins",
  text: numberMarks(EVICT_ORIGINS_SQL),
};
