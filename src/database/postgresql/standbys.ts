import { all, first, type Steps, text } from "../steps.ts";

export interface StandbyWait {
  /** How long a commit of this user's in this database has waited for a standby; null if none does. */
  readonly waitMs: number | null;
}

/** Everybody may see what their own sessions wait for. */
export const STANDBY_WAIT_SQL = `SELECT extract(epoch FROM max(clock_timestamp() - query_start)) * 1000 AS "waitMs" FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND wait_event = 'SyncRep'`;

/** How PostgreSQL's log reaches other machines. */
export interface Standbys extends StandbyWait {
  /** Whether commits wait for a standby, by the settings. */
  readonly areAwaited: boolean;
  /** Standbys that are connected. */
  readonly count: number;
  /** Standbys that have each commit before it is acknowledged; null if this user may not see which. */
  readonly synchronous: number | null;
}

export function* readStandbys(): Steps<Standbys> {
  const setting = yield* first(
    text<{ names: string }>("SELECT current_setting('synchronous_standby_names') AS names"),
  );
  const states = yield* all(
    text<{ state: string | null }>("SELECT sync_state AS state FROM pg_stat_replication"),
  );
  const wait = yield* first(text<StandbyWait>(STANDBY_WAIT_SQL));
  const synchronous = states.filter(({ state }) => state === "sync" || state === "quorum").length;
  return {
    areAwaited: (setting?.names ?? "") !== "",
    waitMs: wait?.waitMs ?? null,
    count: states.length,
    synchronous: states.some(({ state }) => state === null) ? null : synchronous,
  };
}
