import type { Sleep } from "../sessions/attempt-limits.ts";
import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { ServedDatabase } from "../database/served-database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import type { ExposedMetrics } from "../foundation/metrics.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import type { SpamMemory } from "../history/spam-memory.ts";
import type { Claims } from "../outbox/sending/claims.ts";
import type { MayReply, Outbox } from "../outbox/queue/outbox.ts";
import type { BatchWriter } from "../submissions/commit/batch.ts";
import type { UsageCounter } from "../workspaces/usage-counter.ts";

/** What a server is built from. */
export interface ServiceParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the measurements; null if nothing is measured. */
  readonly metrics: ExposedMetrics | null;
  /**
   * The least time between two requests of one visitor of the dashboard, in milliseconds; undefined means the usual one. Tests of other
   * things use a shorter one.
   */
  readonly visitIntervalMs?: number;
  /**
   * The longest pause in the body of a request, in milliseconds; undefined means the usual time of each kind of body. Tests use a shorter
   * one.
   */
  readonly bodyGraceMs?: number;
  /** The wait of somebody who signs in after failures; undefined waits in real time. */
  readonly signInSleep?: Sleep;
}

/** The parts of a server that differ by the engine of its database. */
export interface Engine {
  readonly served: ServedDatabase;
  readonly outbox: Outbox;
  readonly claims: Claims;
  /** Stores a batch of posts. */
  readonly write: BatchWriter;
  readonly limiter: RateLimiter;
  /** The clean-ups that only this engine needs. Each deletes some rows and returns how many. */
  readonly cleanUps: readonly (() => Promise<number>)[];
}

/** What an engine needs to store posts, besides {@link ServiceParts}. */
export interface StoringParts {
  readonly usage: UsageCounter;
  readonly spam: SpamMemory;
  /** Null without a mail server. */
  readonly mayReply: MayReply | null;
}
