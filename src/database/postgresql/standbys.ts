import { all, first, type Steps, text } from "../steps.ts";

/** How PostgreSQL's log reaches other machines. */
export interface Standbys {
  /** Whether commits wait for a standby, by the settings. */
  readonly areAwaited: boolean;
  /** Those that are there. */
  readonly count: number;
  /** Those that have each commit before it is acknowledged; null if this user may not see which. */
  readonly synchronous: number | null;
}

export function* readStandbys(): Steps<Standbys> {
  const setting = yield* first(
    text<{ names: string }>("SELECT current_setting('synchronous_standby_names') AS names"),
  );
  const states = yield* all(
    text<{ state: string | null }>("SELECT sync_state AS state FROM pg_stat_replication"),
  );
  const synchronous = states.filter(({ state }) => state === "sync" || state === "quorum").length;
  return {
    areAwaited: (setting?.names ?? "") !== "",
    count: states.length,
    synchronous: states.some(({ state }) => state === null) ? null : synchronous,
  };
}
