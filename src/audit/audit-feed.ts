import { all, first, type Steps, text, textByEngine } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";
import { type AuditRow, type RecordedChange, toChange } from "./audit-store.ts";

/** A change with its position in the order of commits. */
export interface FeedChange extends RecordedChange {
  /** Of SQLite: the last number that a submission got before it, which never falls. PostgreSQL numbers the transactions. */
  readonly commit: number;
}

/** A position behind a change. */
export interface ChangePosition {
  readonly commit: number;
  readonly id: number;
}

/** Which changes are looked for. */
interface ChangeFilter {
  readonly after: ChangePosition;
  /** Milliseconds: none that was made before. */
  readonly since: number;
  /** Null is every one, and what belongs to none. */
  readonly workspaceIds: readonly string[] | null;
}

const IN_WORKSPACES = `workspace_id IN ${LISTED}`;

/** At most `limit` changes behind a position, in the order of their commits. */
export function* readChangesAfter(
  { after, since, workspaceIds }: ChangeFilter,
  limit: number,
): Steps<FeedChange[]> {
  const reached = workspaceIds === null ? "? IS NULL" : IN_WORKSPACES;
  const rows = yield* all(
    textByEngine<AuditRow & { readonly commit: number }>(
      {
        sqlite: `SELECT *, stored_after AS "commit" FROM audit_event
          WHERE ? >= 0 AND id > ? AND at >= ? AND ${reached} ORDER BY id LIMIT ?`,
        postgresql: `SELECT *, stored_by::text::bigint AS "commit" FROM audit_event
          WHERE (stored_by, id) > (CAST(? AS text)::xid8, CAST(? AS bigint)) AND at >= ?
            AND stored_by < pg_snapshot_xmin(pg_current_snapshot())
            AND ${workspaceIds === null ? "CAST(? AS text) IS NULL" : IN_WORKSPACES}
          ORDER BY stored_by, id LIMIT ?`,
      },
      after.commit,
      after.id,
      since,
      workspaceIds && listParameter(workspaceIds),
      limit,
    ),
  );
  return rows.map((row) => Object.assign(toChange(row), { commit: row.commit }));
}

const KNOWN_SQL = {
  sqlite: `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'submission'), 0) AS "commit",
    coalesce(max(id), 0) AS newest, coalesce(min(id), 1) AS oldest FROM audit_event`,
  postgresql: `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS "commit",
    coalesce(max(id), 0) AS newest, coalesce(min(id), 1) AS oldest FROM audit_event`,
};

/**
 * Whether nothing is missing between a position and now: not if the database is another one, like a restored backup, or if changes behind
 * the position had to go.
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

/** Before all changes. */
const FIRST_CHANGE: ChangePosition = { commit: 0, id: 0 };

const BEFORE_SQL = `SELECT coalesce((SELECT min(id) - 1 FROM audit_event WHERE at >= ?), max(id), 0) AS id FROM audit_event`;

/** The position before the first change that was made at or after `since`, in milliseconds: those before it may go. */
export function* positionBefore(since: number): Steps<ChangePosition> {
  const before = yield* first(text<{ id: number }>(BEFORE_SQL, since));
  return before === undefined ? FIRST_CHANGE : { commit: 0, id: before.id };
}

/** The position behind the newest change. */
export function* newestPosition(): Steps<ChangePosition> {
  return (yield* first(textByEngine<ChangePosition>(NEWEST_SQL))) ?? FIRST_CHANGE;
}
