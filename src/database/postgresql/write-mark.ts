/**
 * Puts an empty message into the log. Only a commit that has something in the log waits for the standby; and when it is heard, the standby
 * has everything that was committed before it as well, also what became visible because its own wait was ended.
 */
export const WRITE_MARK_SQL = "SELECT pg_logical_emit_message(true, 'formsvc', '')";
