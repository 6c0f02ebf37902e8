/**
 * The rows that the synchronous standby certainly has: those whose transactions are visible in this snapshot. It has the text form of
 * PostgreSQL's type `pg_snapshot`.
 */
export type SafeSnapshot = string;

/**
 * Finds out whether rows that were read may exist only on the primary. PostgreSQL shows such rows if the wait of their commit for the
 * standby was ended, and after its own restart.
 */
export interface Confirmations {
  /**
   * Resolves to null when a synchronous standby has everything that was read before, or at once if commits do not wait for one. If the
   * standby does not answer within a second, resolves to what it had before. Never rejects.
   */
  confirm(): Promise<SafeSnapshot | null>;
}

/** A database file is on one machine, so there is nothing to confirm. */
export const NOTHING_TO_CONFIRM: Confirmations = { confirm: () => Promise.resolve(null) };
