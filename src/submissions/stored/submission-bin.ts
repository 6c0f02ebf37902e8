import { among } from "../../database/some-rows.ts";
import { all, run, type Steps, text, textByEngine, byEngine } from "../../database/steps.ts";
import { LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/*
 * The bin holds deleted submissions that can be brought back. Such a submission keeps its row and its messages, so that nothing is lost
 * when it comes back. Lists, counts and exports leave it out.
 */

/** An SQL condition that leaves out submissions in the bin. It follows other conditions on `submission`. */
export const NOT_BINNED_SQL =
  "AND NOT EXISTS (SELECT 1 FROM submission_bin WHERE submission_bin.id = submission.id)";

const INSERT_SQL = `INSERT INTO submission_bin (id, endpoint_number, deleted_at)
  SELECT id, endpoint_number, CAST(? AS bigint) FROM submission WHERE id IN ${LISTED_IDS}
  ON CONFLICT (id) DO NOTHING`;

/** Ids of submissions that do not exist are ignored. */
export function* insertBinRows(ids: readonly string[], now: number): Steps<void> {
  yield* run(text(INSERT_SQL, now, listParameter(ids)));
}

export function* deleteBinRows(ids: readonly string[]): Steps<void> {
  yield* run(text(`DELETE FROM submission_bin WHERE id IN ${LISTED_IDS}`, listParameter(ids)));
}

const LISTED_SQL = `SELECT id FROM submission_bin WHERE id IN ${LISTED_IDS}`;

/** Returns the ids of those of these submissions that are in the bin. */
export function* listBinned(ids: readonly string[]): Steps<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = yield* all(text<{ id: string }>(LISTED_SQL, listParameter(ids)));
  return new Set(rows.map(({ id }) => id));
}

const OLD_SQL = "SELECT id FROM submission_bin WHERE deleted_at <= ? ORDER BY deleted_at LIMIT ?";
const EMPTY_SQL = byEngine((engine) => `DELETE FROM submission WHERE ${among(engine, "id", OLD_SQL)}`);

/** Deletes up to `limit` submissions for good that have been in the bin for `days`. Returns the number deleted. */
export function emptyOldBin(days: number, now: number, limit: number): Steps<number> {
  return run(textByEngine(EMPTY_SQL, now - days * DAY_MS, limit));
}

const OF_ENDPOINT_SQL = `SELECT id FROM submission_bin
  WHERE endpoint_number = (SELECT number FROM endpoint_number WHERE endpoint_id = ?) ORDER BY id LIMIT ?`;

/** The ids of an endpoint's oldest submissions in the bin, at most `limit`. */
export function* listBinOf(endpointId: string, limit: number): Steps<string[]> {
  return (yield* all(text<{ id: string }>(OF_ENDPOINT_SQL, endpointId, limit))).map(({ id }) => id);
}
