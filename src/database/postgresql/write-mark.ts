/**
 * Puts an empty message into the write-ahead log. A commit waits for the standby only if it has something in the log. When it is confirmed,
 * the standby also has everything that was committed before, even what became visible because its own wait was ended.
 */
export const WRITE_MARK_SQL = "SELECT pg_logical_emit_message(true, 'formsvc', '')";

/** The snapshot of a commit with such a message. When the commit is confirmed, the standby has everything that is visible in it. */
export interface Seen {
  readonly snapshot: string;
  /** Whether commits wait for a standby, according to the settings. */
  readonly isStandbyAwaited: boolean;
}

export const CONFIRM_SQL = `${WRITE_MARK_SQL}, pg_current_snapshot()::text AS snapshot,
  current_setting('synchronous_standby_names') <> '' AS "isStandbyAwaited"`;
