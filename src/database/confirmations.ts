/**
 * Rows that the synchronous standby has for sure: those that a snapshot of PostgreSQL's sees, by the transactions that stored them.
 * It is in the text form of `pg_snapshot`.
 */
export type SafeSnapshot = string;

/**
 * Tells whether what was read may be on the primary alone. PostgreSQL shows such rows after the wait of their commit was ended, and after
 * its own restart.
 */
export interface Confirmations {
  /**
   * Resolves to null when a synchronous standby has everything that was read before, or when none is awaited. If it does not answer
   * within a second, resolves to what it had before. Never rejects.
   */
  confirm(): Promise<SafeSnapshot | null>;
}

/** A file is on one machine. */
export const NOTHING_TO_CONFIRM: Confirmations = { confirm: () => Promise.resolve(null) };
