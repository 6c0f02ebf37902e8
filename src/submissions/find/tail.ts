import { listParameter } from "../../database/list-parameter.ts";
import { all, first, type Steps, textByEngine } from "../../database/steps.ts";
import { checkCursor, firstIdAt } from "../../foundation/id.ts";
import { CLASS_SCORES } from "../../spam/spam-verdict.ts";
import { NUMBERS_OF_ENDPOINTS } from "../stored/endpoint-number.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import { readSubmissions, type SubmissionFilter } from "../stored/submission-store.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/**
 * A place in the order of commits: SQLite numbers the submissions, and the id is empty. PostgreSQL numbers the transactions, and
 * within one the ids count.
 */
export interface TailPosition {
  readonly commit: number;
  readonly id: string;
}

/** Before all submissions. */
export const TAIL_START: TailPosition = { commit: 0, id: "" };

export interface TailPage {
  /** In the order of their commits. */
  readonly submissions: readonly StoredSubmission[];
  /** The place of each of them. */
  readonly positions: readonly TailPosition[];
  /** Everything up to here was looked at. */
  readonly position: TailPosition;
  /** Whether there may be more behind it: a page looks at {@link MAX_LOOKED} submissions, however few of them the filter takes. */
  readonly isCut: boolean;
}

/** Submissions that one page looks at, in a few milliseconds in which posts wait on SQLite. */
export const MAX_LOOKED = 500;

/**
 * On PostgreSQL transactions end in another order than they begin. What was stored before the oldest one that still runs is
 * complete; the rest is left for later.
 */
export const IS_COMPLETE = "stored_by < pg_snapshot_xmin(pg_current_snapshot())";

const INCOMPLETE_SQL = {
  sqlite: "SELECT 1 FROM submission WHERE 1 = 0",
  postgresql: `SELECT 1 FROM submission WHERE NOT ${IS_COMPLETE} LIMIT 1`,
};

/** Whether there are submissions that wait for the end of an earlier transaction. */
export function* isIncomplete(): Steps<boolean> {
  return (yield* first(textByEngine(INCOMPLETE_SQL))) !== undefined;
}

const END_SQL = {
  sqlite: `SELECT seq AS "commit", '' AS id FROM submission ORDER BY seq DESC LIMIT 1`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id FROM submission
    WHERE ${IS_COMPLETE} ORDER BY stored_by DESC, id DESC LIMIT 1`,
};

/** The position after the newest submission that `tail` gives. */
export function* tailEnd(): Steps<TailPosition> {
  return (yield* first(textByEngine<TailPosition>(END_SQL))) ?? TAIL_START;
}

const NAMED_SQL = {
  sqlite: `SELECT seq AS "commit", '' AS id FROM submission WHERE id = ?`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id FROM submission WHERE id = ?`,
};

/** Submissions that are looked at for the first commit: their ids are made some seconds before it, and not in its order. */
const MAX_COMMITTED_LATER = 10_000;

export const FIRST_LATER_SQL = {
  sqlite: `SELECT min(seq) - 1 AS "commit", '' AS id FROM
    (SELECT seq FROM submission WHERE id > ? ORDER BY id LIMIT ${MAX_COMMITTED_LATER}) AS later`,
  postgresql: `SELECT min(stored_by::text::bigint) AS "commit", '' AS id FROM
    (SELECT stored_by FROM submission WHERE id > ? ORDER BY id LIMIT ${MAX_COMMITTED_LATER}) AS later`,
};

/**
 * The position after a submission; if it is gone, the position before the first one with a later id.
 *
 * @param cursor its id. @throws invalid_request on anything else.
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

const UNTIL_SQL = {
  sqlite: "AND seq <= ? AND ? = ''",
  postgresql: "AND (stored_by, id) <= (CAST(? AS text)::xid8, ?)",
};

/**
 * At most `limit` submissions that were committed after a position, oldest first, by the endpoint, the score and the time of the
 * filter. The first statement bounds how many the second one looks at.
 */
export function* readTail(filter: SubmissionFilter, after: TailPosition, limit: number): Steps<TailPage> {
  const bound = yield* first(textByEngine<TailPosition>(BOUND_SQL, after.commit, after.id));
  const until = { sqlite: "", postgresql: "", ...(bound && UNTIL_SQL) };
  const wanted = conditionsOf(filter);
  const found = yield* all(
    textByEngine<TailPosition & { readonly submission: string }>(
      {
        sqlite: `SELECT seq AS "commit", '' AS id, id AS submission FROM submission
          WHERE seq > ? AND ? = '' ${until.sqlite} ${wanted.sql} ORDER BY seq LIMIT ?`,
        postgresql: `SELECT stored_by::text::bigint AS "commit", id, id AS submission FROM submission
          WHERE (stored_by, id) > (CAST(? AS text)::xid8, ?) ${until.postgresql} AND ${IS_COMPLETE} ${wanted.sql}
          ORDER BY stored_by, id LIMIT ?`,
      },
      after.commit,
      after.id,
      ...(bound ? [bound.commit, bound.id] : []),
      ...wanted.parameters,
      limit,
    ),
  );
  const positions = found.map(({ commit, id }) => ({ commit, id }));
  const isFull = found.length >= limit;
  const last = positions.at(-1) ?? after;
  return {
    submissions: yield* readSubmissions(found.map(({ submission }) => submission)),
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
