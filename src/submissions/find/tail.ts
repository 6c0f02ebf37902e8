import { listParameter } from "../../database/list-parameter.ts";
import { all, byEngine, first, type Steps, textByEngine } from "../../database/steps.ts";
import { checkCursor, firstIdAt } from "../../foundation/id.ts";
import { CLASS_SCORES } from "../../spam/spam-verdict.ts";
import { NUMBERS_OF_ENDPOINTS } from "../stored/endpoint-number.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import { readSubmissions, type SubmissionFilter } from "../stored/submission-store.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/**
 * A position in the order of commits. On SQLite `commit` is the number of the submission, and `id` is empty. On PostgreSQL `commit` is the
 * number of the transaction, and `id` is that of a submission, because a transaction stores several.
 */
export interface TailPosition {
  readonly commit: number;
  readonly id: string;
}

/** The position before all submissions. */
export const TAIL_START: TailPosition = { commit: 0, id: "" };

export interface TailPage {
  /** The submissions in the order of their commits. */
  readonly submissions: readonly StoredSubmission[];
  /** The position of each submission, in the same order. */
  readonly positions: readonly TailPosition[];
  /** The position up to which submissions were looked at. */
  readonly position: TailPosition;
  /**
   * Whether there may be more after `position`: a page looks at {@link MAX_LOOKED} submissions at most, even if the filter takes few of
   * them.
   */
  readonly isCut: boolean;
}

/** The largest number of submissions that one page looks at; it takes a few milliseconds, during which posts wait on SQLite. */
export const MAX_LOOKED = 500;

/**
 * On PostgreSQL transactions may end in another order than they begin. Only submissions stored before the oldest open transaction are read;
 * later ones are left for the next read.
 */
export const IS_COMPLETE = "stored_by < pg_snapshot_xmin(pg_current_snapshot())";

const INCOMPLETE_SQL = {
  sqlite: "SELECT 1 FROM submission WHERE 1 = 0",
  postgresql: `SELECT 1 FROM submission WHERE NOT ${IS_COMPLETE} LIMIT 1`,
};

/** Whether some submissions cannot be read yet, because an earlier transaction is still open. */
export function* isIncomplete(): Steps<boolean> {
  return (yield* first(textByEngine(INCOMPLETE_SQL))) !== undefined;
}

const END_SQL = {
  sqlite: `SELECT seq AS "commit", '' AS id FROM submission ORDER BY seq DESC LIMIT 1`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id FROM submission
    WHERE ${IS_COMPLETE} ORDER BY stored_by DESC, id DESC LIMIT 1`,
};

/** The position after the newest submission that a tail can read. */
export function* tailEnd(): Steps<TailPosition> {
  return (yield* first(textByEngine<TailPosition>(END_SQL))) ?? TAIL_START;
}

const NAMED_SQL = {
  sqlite: `SELECT seq AS "commit", '' AS id FROM submission WHERE id = ?`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id FROM submission WHERE id = ?`,
};

/** The largest number of submissions searched for the lowest commit. Ids are made some seconds before the commit, and in another order. */
const MAX_COMMITTED_LATER = 10_000;

export const FIRST_LATER_SQL = {
  sqlite: `SELECT min(seq) - 1 AS "commit", '' AS id FROM
    (SELECT seq FROM submission WHERE id > ? ORDER BY id LIMIT ${MAX_COMMITTED_LATER}) AS later`,
  postgresql: `SELECT min(stored_by::text::bigint) AS "commit", '' AS id FROM
    (SELECT stored_by FROM submission WHERE id > ? ORDER BY id LIMIT ${MAX_COMMITTED_LATER}) AS later`,
};

/**
 * The position after a submission; if it is deleted, the position before the first submission with a later id.
 *
 * @param cursor the id of the submission. @throws invalid_request on anything else.
 */
export function* tailAfter(cursor: string): Steps<TailPosition> {
  checkCursor("sub", cursor);
  const named = yield* first(textByEngine<TailPosition>(NAMED_SQL, cursor));
  return named ?? (yield* firstLater(cursor));
}

function* firstLater(id: string): Steps<TailPosition> {
  const later = yield* first(textByEngine<TailPosition | { readonly commit: null }>(FIRST_LATER_SQL, id));
  return later === undefined || later.commit === null ? yield* tailEnd() : later;
}

/** The position before the first submission that was stored at or after `since`, in milliseconds. */
export function* tailSince(since: number): Steps<TailPosition> {
  return yield* firstLater(firstIdAt("sub", since));
}

const BOUND_SQL = {
  sqlite: `SELECT seq AS "commit", '' AS id FROM submission WHERE seq > ? AND ? = '' ORDER BY seq
    LIMIT 1 OFFSET ${MAX_LOOKED - 1}`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id FROM submission
    WHERE (stored_by, id) > (CAST(? AS text)::xid8, ?) AND ${IS_COMPLETE} ORDER BY stored_by, id
    LIMIT 1 OFFSET ${MAX_LOOKED - 1}`,
};

/**
 * The submissions that one page looks at. A number of rows ends the walk through the index, and not the last position: PostgreSQL ends at a
 * pair only when its first part changes, and `formsvc copy` stores millions of submissions in one transaction.
 */
const LOOKED_SQL = {
  sqlite: `SELECT seq AS "commit", '' AS place, id, endpoint_number, spam_score FROM submission
    WHERE seq > ? AND ? = '' ORDER BY seq LIMIT ${MAX_LOOKED}`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id AS place, id, endpoint_number, spam_score FROM submission
    WHERE (stored_by, id) > (CAST(? AS text)::xid8, ?) AND ${IS_COMPLETE} ORDER BY stored_by, id LIMIT ${MAX_LOOKED}`,
};

/**
 * Reads at most `limit` submissions that were committed after a position, oldest first. Of the filter only the endpoints, the spam class
 * and the times apply. The first statement finds where the second one stops, after {@link MAX_LOOKED} submissions.
 */
export function* readTail(filter: SubmissionFilter, after: TailPosition, limit: number): Steps<TailPage> {
  const bound = yield* first(textByEngine<TailPosition>(BOUND_SQL, after.commit, after.id));
  const wanted = conditionsOf(filter);
  const sql = byEngine(
    (engine) => `SELECT "commit", place, id FROM (${LOOKED_SQL[engine]}) AS submission
      WHERE 1 = 1 ${wanted.sql} ORDER BY "commit", place LIMIT ?`,
  );
  const found = yield* all(
    textByEngine<{ readonly commit: number; readonly place: string; readonly id: string }>(
      sql,
      after.commit,
      after.id,
      ...wanted.parameters,
      limit,
    ),
  );
  const positions = found.map(({ commit, place }) => ({ commit, id: place }));
  const isFull = found.length >= limit;
  const last = positions.at(-1) ?? after;
  return {
    submissions: yield* readSubmissions(found.map(({ id }) => id)),
    positions,
    position: isFull || bound === undefined ? last : { commit: bound.commit, id: bound.id },
    isCut: isFull || bound !== undefined,
  };
}

interface Conditions {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

function conditionsOf({ endpointIds, spamClass, since, until }: SubmissionFilter): Conditions {
  const conditions: Conditions[] = [{ sql: NOT_BINNED_SQL, parameters: [] }];
  if (endpointIds !== null)
    conditions.push({ sql: OF_ENDPOINTS_SQL, parameters: [listParameter(endpointIds)] });
  // Ids begin with the time.
  if (since !== null) conditions.push({ sql: "AND id >= ?", parameters: [firstIdAt("sub", since)] });
  if (until !== null) conditions.push({ sql: "AND id < ?", parameters: [firstIdAt("sub", until)] });
  if (spamClass !== null)
    conditions.push({ sql: "AND spam_score BETWEEN ? AND ?", parameters: CLASS_SCORES[spamClass] });
  return {
    sql: conditions.map(({ sql }) => sql).join(" "),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
}

const OF_ENDPOINTS_SQL = `AND endpoint_number IN (${NUMBERS_OF_ENDPOINTS})`;
