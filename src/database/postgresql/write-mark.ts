/**
 * Puts an empty message into the log. Only a commit that has something in the log waits for the standby; and when it is heard, the standby
 * has everything that was committed before it as well, also what became visible because its own wait was ended.
 */
export const WRITE_MARK_SQL = "SELECT pg_logical_emit_message(true, 'formsvc', '')";

/** What a commit has seen that puts such a message into the log: when it is heard, the standby has all of that. */
export interface Seen {
  readonly snapshot: string;
  /** Whether commits wait for a standby, by the settings. */
  readonly isStandbyAwaited: boolean;
}

export const CONFIRM_SQL = `${WRITE_MARK_SQL}, pg_current_snapshot()::text AS snapshot,
  current_setting('synchronous_standby_names') <> '' AS "isStandbyAwaited"`;
