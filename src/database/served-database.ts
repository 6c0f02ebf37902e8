import type { Metrics } from "../foundation/metrics.ts";
import type { Confirmations } from "./confirmations.ts";
import type { ChangeListener, ChangeWatch, Head } from "./database.ts";
import type { LiveServers } from "./live-servers.ts";

/** What a server has of its database besides its rows. Each engine has its own way to it. */
export interface ServedDatabase {
  readonly liveServers: LiveServers;
  readonly writability: Writability;
  readonly confirmations: Confirmations;
  readonly cleaner: LogCleaner;
  /** Bytes that the database may still take on its disk, free pages of its file included; null if that cannot be seen. */
  freeBytes(): number | null;
  /** Notices what others commit, from `begin` on. Call it before. */
  watch(listener: ChangeListener, heads: readonly Head[]): ChangeWatch;
  /**
   * Has the other servers call their heads with `isNotified` at once. It may be missed: then they see within 250 ms that the values
   * changed.
   */
  notifyOthers(): void;
  measure(metrics: Metrics): void;
  /**
   * Call it before the server listens. It resolves when what is remembered can be believed; from then on nothing waits for another
   * process inside a statement.
   *
   * @throws database_unusable if nothing is heard of the database, or it was migrated beyond this program. `end` must follow then too.
   */
  begin(): Promise<void>;
  /** Call it after the last write. Others need not wait for this server. */
  end(): Promise<void>;
}

/** Whether a post could be stored now. */
export interface Writability {
  /** Call it after each commit that had to write. */
  report(worked: boolean): void;
  /** By the last commit or write of its own, which is a few seconds old at most. */
  isWritable(): boolean;
  /** Whether that is because commits wait for a synchronous standby that is not there. */
  awaitsStandby(): boolean;
}

/** Empties what still holds deleted content after something was deleted, tried again until it succeeds. */
export interface LogCleaner {
  /** Called with how many rows were deleted. */
  note(deleted: number): void;
  /** Another process may have deleted something without being able to empty the log. */
  suspect(): void;
  /** Does nothing if nothing was deleted since the log was emptied. */
  clean(): void;
}
