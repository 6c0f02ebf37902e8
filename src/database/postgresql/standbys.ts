import { all, first, type Steps, text } from "../steps.ts";

export interface StandbyWait {
  /** Time for which a commit of this user in this database has waited for a standby, in milliseconds; null if none waits. */
  readonly waitMs: number | null;
}

/** Every user may see what their own sessions wait for. */
export const STANDBY_WAIT_SQL = `SELECT extract(epoch FROM max(clock_timestamp() - query_start)) * 1000 AS "waitMs" FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND wait_event = 'SyncRep'`;

/** The standbys that receive PostgreSQL's log, and the wait for them. */
export interface Standbys extends StandbyWait {
  /** Whether commits wait for a standby, according to the settings. */
  readonly areAwaited: boolean;
  /** The number of connected standbys. */
  readonly count: number;
  /** The number of standbys that have each commit before it is acknowledged; null if this user may not see it. */
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
