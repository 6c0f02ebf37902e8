import type { Metrics } from "../foundation/metrics.ts";
import type { Confirmations } from "./confirmations.ts";
import type { ChangeListener, ChangeWatch, Head } from "./database.ts";
import type { LiveServers } from "./live-servers.ts";

/** What a server needs of its database besides the rows. Each engine implements it in its own way. */
export interface ServedDatabase {
  readonly liveServers: LiveServers;
  readonly writability: Writability;
  readonly confirmations: Confirmations;
  readonly cleaner: LogCleaner;
  /** The bytes that the database may still take: free space of its disk and free pages of its file; null if unknown. */
  freeBytes(): number | null;
  /** Starts to notice the commits of others when `begin` is called. Call it before. */
  watch(listener: ChangeListener, heads: readonly Head[]): ChangeWatch;
  /**
   * Makes the other servers call their heads with `isNotified` at once. If the notification is lost, they notice the change within 250 ms.
   */
  notifyOthers(): void;
  measure(metrics: Metrics): void;
  /**
   * Call it before the server listens. It resolves when remembered data is current; from then on no statement waits for another process.
   *
   * @throws database_unusable if the database does not answer, or was migrated beyond this program. Call `end` in this case too.
   */
  begin(): Promise<void>;
  /** Call it after the last write. Tells other servers that they need not wait for this one. */
  end(): Promise<void>;
}

/** Knows whether a post could be stored now. */
export interface Writability {
  /** Call it after each commit that had to write. @param worked whether the commit succeeded */
  report(worked: boolean): void;
  /** Whether the last commit or test write succeeded; it was at most a few seconds ago. */
  isWritable(): boolean;
  /** Whether posts cannot be stored because commits wait for a synchronous standby that is not there. */
  awaitsStandby(): boolean;
}

/** Empties the log that still contains deleted content, and tries again until it succeeds. */
export interface LogCleaner {
  /** Called with the number of rows deleted. */
  note(deleted: number): void;
  /** Called when another process may have deleted something and could not empty the log. */
  suspect(): void;
  /** Empties the log. Does nothing if nothing was deleted since the log was last emptied. */
  clean(): void;
}
