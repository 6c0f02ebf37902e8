import { first, run, type Steps, text } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { FIRST_SQL, type FirstPost, type IdempotentPost, REMEMBERED_MS } from "../commit/idempotency.ts";
import { listBinned } from "../stored/submission-bin.ts";

/** The Idempotency-Key of a held post, and what is known of it. */
export interface HeldKey {
  readonly post: IdempotentPost;
  /** The submission that the key stands for, because the sender sent the post again; null if there is none that could be looked at. */
  readonly storedId: string | null;
  /** Whether a release may record the key: no other post that is remembered has it. */
  readonly isFree: boolean;
  /** The submission in the key's row, if that is not there any more; empty if there is no such row. */
  readonly lostId: string;
}

const KEY_SQL = "SELECT endpoint_id, sent_kind, sent_key_hash, sent_body_hash FROM held WHERE id = ?";

interface KeyRow {
  readonly endpoint_id: string;
  readonly sent_kind: IdempotentPost["kind"] | null;
  readonly sent_key_hash: Buffer | null;
  readonly sent_body_hash: Buffer | null;
}

/** Finds the Idempotency-Key of a held post; null if it came without one, or was held by an earlier version. */
export function* findHeldKey(heldId: string, now: number): Steps<HeldKey | null> {
  const row = yield* first(text<KeyRow>(KEY_SQL, heldId));
  if (row === undefined || row.sent_kind === null) return null;
  const { endpoint_id: endpointId, sent_kind: kind, sent_key_hash: keyHash, sent_body_hash: bodyHash } = row;
  if (keyHash === null || bodyHash === null) return null;
  const post: IdempotentPost = { endpointId, kind, keyHash, bodyHash };
  // A row that expired and is not cleaned up yet still tells that the post was stored.
  const known = yield* first(text<FirstPost>(FIRST_SQL, endpointId, kind, keyHash, 0));
  if (known === undefined) return { post, storedId: null, isFree: true, lostId: "" };
  if (!known.body_hash.equals(bodyHash))
    return { post, storedId: null, isFree: known.created_at <= now - REMEMBERED_MS, lostId: "" };
  const isThere = yield* isInLists(known.submission_id);
  if (isThere) return { post, storedId: known.submission_id, isFree: false, lostId: "" };
  return { post, storedId: null, isFree: true, lostId: known.submission_id };
}

/** Whether a submission exists and is not in the bin. */
function* isInLists(id: string): Steps<boolean> {
  const row = yield* first(text<{ id: string }>("SELECT id FROM submission WHERE id = ?", id));
  return row !== undefined && !(yield* listBinned([id])).has(id);
}

const RECORD_SQL = `INSERT INTO idempotency (endpoint_id, kind, key_hash, body_hash, submission_id, created_at)
  VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (endpoint_id, kind, key_hash) DO UPDATE
    SET body_hash = excluded.body_hash, submission_id = excluded.submission_id, created_at = excluded.created_at
    WHERE idempotency.created_at <= excluded.created_at - ${REMEMBERED_MS} OR idempotency.submission_id = ?`;

/**
 * Records the key of a held post that becomes this submission, so that a repeat of the post is answered with it. Call it when the usage of
 * the month is counted: a batch takes its locks in that order.
 *
 * @throws conflict if the sender's repeat was stored in this moment.
 */
export function* recordHeldKey({ post, isFree, lostId }: HeldKey, id: string, now: number): Steps<void> {
  if (!isFree) return;
  const { endpointId, kind, keyHash, bodyHash } = post;
  const values = [endpointId, kind, keyHash, bodyHash, id, now, lostId];
  if ((yield* run(text(RECORD_SQL, ...values))) > 0) return;
  throw new FormsvcError("conflict", "the post is being stored because its sender sent it again; try again");
}
