import { all, run, type Steps, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/*
 * The bin: what was deleted and can be brought back. Such a submission keeps its row and its messages, so that bringing it back loses
 * nothing; whoever lists, counts or exports passes over it.
 */

/** In SQL, behind conditions on `submission`: not what is in the bin. */
export const NOT_BINNED_SQL =
  "AND NOT EXISTS (SELECT 1 FROM submission_bin WHERE submission_bin.id = submission.id)";

const INSERT_SQL = `INSERT INTO submission_bin (id, endpoint_number, deleted_at)
  SELECT id, endpoint_number, CAST(? AS bigint) FROM submission WHERE id IN ${LISTED}
  ON CONFLICT (id) DO NOTHING`;

/** Ids without a submission are passed over. */
export function* insertBinRows(ids: readonly string[], now: number): Steps<void> {
  yield* run(text(INSERT_SQL, now, listParameter(ids)));
}

export function* deleteBinRows(ids: readonly string[]): Steps<void> {
  yield* run(text(`DELETE FROM submission_bin WHERE id IN ${LISTED}`, listParameter(ids)));
}

const LISTED_SQL = `SELECT id FROM submission_bin WHERE id IN ${LISTED}`;

/** The ids of these that name a submission in the bin. */
export function* listBinned(ids: readonly string[]): Steps<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = yield* all(text<{ id: string }>(LISTED_SQL, listParameter(ids)));
  return new Set(rows.map(({ id }) => id));
}

const EMPTY_SQL = `DELETE FROM submission WHERE id IN
  (SELECT id FROM submission_bin WHERE deleted_at <= ? ORDER BY deleted_at LIMIT ?)`;

/** Deletes up to `limit` submissions for good that were in the bin for its days. Returns the number deleted. */
export function emptyOldBin(days: number, now: number, limit: number): Steps<number> {
  return run(text(EMPTY_SQL, now - days * DAY_MS, limit));
}

const OF_ENDPOINT_SQL = `SELECT id FROM submission_bin
  WHERE endpoint_number = (SELECT number FROM endpoint_number WHERE endpoint_id = ?) ORDER BY id LIMIT ?`;

/** The oldest submissions of an endpoint that are in the bin. */
export function* listBinOf(endpointId: string, limit: number): Steps<string[]> {
  return (yield* all(text<{ id: string }>(OF_ENDPOINT_SQL, endpointId, limit))).map(({ id }) => id);
}
