import { all, first, type Steps, text, textByEngine } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";
import { type AuditRow, type RecordedChange, toChange } from "./audit-store.ts";

/** A change with its position in the order of commits. */
export interface FeedChange extends RecordedChange {
  /**
   * In SQLite: the number of the last submission before the change, which never decreases. In PostgreSQL: the number of the transaction.
   */
  readonly commit: number;
}

/** A position after a change. */
export interface ChangePosition {
  readonly commit: number;
  readonly id: number;
}

/** Which changes are read. */
interface ChangeFilter {
  readonly after: ChangePosition;
  /** Milliseconds since 1970 UTC; earlier changes are left out. */
  readonly since: number;
  /** Null means every workspace, and changes that belong to none. */
  readonly workspaceIds: readonly string[] | null;
}

/** Changes after a position. */
export interface ChangePage {
  /** The changes that the filter takes, in the order of their commits. */
  readonly changes: readonly FeedChange[];
  /** The position up to which changes were looked at. */
  readonly position: ChangePosition;
  /** Whether there may be more after `position`. */
  readonly isCut: boolean;
}

/** The largest number of changes that one page looks at, of everybody; it takes a few milliseconds, during which posts wait on SQLite. */
export const MAX_LOOKED_CHANGES = 5000;

/** The place of the last change that a page looks at; none if it looks at all of them. */
const BOUND_SQL = {
  sqlite: `SELECT stored_after AS "commit", id FROM audit_event WHERE ? >= 0 AND id > ? ORDER BY id
    LIMIT 1 OFFSET ${MAX_LOOKED_CHANGES - 1}`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id FROM audit_event
    WHERE (stored_by, id) > (CAST(? AS text)::xid8, CAST(? AS bigint)) AND stored_by < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY stored_by, id LIMIT 1 OFFSET ${MAX_LOOKED_CHANGES - 1}`,
};

const UNTIL_SQL = {
  sqlite: "AND ? >= 0 AND id <= ?",
  postgresql: "AND (stored_by, id) <= (CAST(? AS text)::xid8, CAST(? AS bigint))",
};

const IN_WORKSPACES = `workspace_id IN ${LISTED}`;

/**
 * At most `limit` changes after a position, in the order of their commits. The first statement finds where the second one stops, so that
 * it does not look through the changes of everybody for those of one account.
 */
export function* readChangesAfter(
  { after, since, workspaceIds }: ChangeFilter,
  limit: number,
): Steps<ChangePage> {
  const bound = yield* first(textByEngine<ChangePosition>(BOUND_SQL, after.commit, after.id));
  const until = { sqlite: "", postgresql: "", ...(bound && UNTIL_SQL) };
  const reached = workspaceIds === null ? "? IS NULL" : IN_WORKSPACES;
  const rows = yield* all(
    textByEngine<AuditRow & { readonly commit: number }>(
      {
        sqlite: `SELECT *, stored_after AS "commit" FROM audit_event
          WHERE ? >= 0 AND id > ? ${until.sqlite} AND at >= ? AND ${reached} ORDER BY id LIMIT ?`,
        postgresql: `SELECT *, stored_by::text::bigint AS "commit" FROM audit_event
          WHERE (stored_by, id) > (CAST(? AS text)::xid8, CAST(? AS bigint)) ${until.postgresql} AND at >= ?
            AND stored_by < pg_snapshot_xmin(pg_current_snapshot())
            AND ${workspaceIds === null ? "CAST(? AS text) IS NULL" : IN_WORKSPACES}
          ORDER BY stored_by, id LIMIT ?`,
      },
      after.commit,
      after.id,
      ...(bound ? [bound.commit, bound.id] : []),
      since,
      workspaceIds && listParameter(workspaceIds),
      limit,
    ),
  );
  const changes = rows.map((row) => Object.assign(toChange(row), { commit: row.commit }));
  const isFull = changes.length >= limit;
  const last = changes.at(-1) ?? after;
  return {
    changes,
    position: isFull || bound === undefined ? { commit: last.commit, id: last.id } : bound,
    isCut: isFull || bound !== undefined,
  };
}

const KNOWN_SQL = {
  sqlite: `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'submission'), 0) AS "commit",
    coalesce(max(id), 0) AS newest, coalesce(min(id), 1) AS oldest FROM audit_event`,
  postgresql: `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS "commit",
    coalesce(max(id), 0) AS newest, coalesce(min(id), 1) AS oldest FROM audit_event`,
};

/**
 * Whether no change between a position and now is missing. False if the database is another one, like a restored backup, or if changes
 * after the position were deleted.
 */
export function* isPositionKnown({ commit, id }: ChangePosition): Steps<boolean> {
  const known = yield* first(textByEngine<{ commit: number; newest: number; oldest: number }>(KNOWN_SQL));
  if (known === undefined) return false;
  return commit <= known.commit && id <= known.newest && id >= known.oldest - 1;
}

const NEWEST_SQL = {
  sqlite: `SELECT stored_after AS "commit", id FROM audit_event ORDER BY id DESC LIMIT 1`,
  postgresql: `SELECT stored_by::text::bigint AS "commit", id FROM audit_event
    WHERE stored_by < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY stored_by DESC, id DESC LIMIT 1`,
};

/** The position before all changes. */
const FIRST_CHANGE: ChangePosition = { commit: 0, id: 0 };

const BEFORE_SQL = `SELECT coalesce((SELECT min(id) - 1 FROM audit_event WHERE at >= ?), max(id), 0) AS id FROM audit_event`;

/** The position before the first change that was made at or after `since` (milliseconds since 1970 UTC). Earlier changes may be missing. */
export function* positionBefore(since: number): Steps<ChangePosition> {
  const before = yield* first(text<{ id: number }>(BEFORE_SQL, since));
  return before === undefined ? FIRST_CHANGE : { commit: 0, id: before.id };
}

/** The position after the newest change. */
export function* newestPosition(): Steps<ChangePosition> {
  return (yield* first(textByEngine<ChangePosition>(NEWEST_SQL))) ?? FIRST_CHANGE;
}
