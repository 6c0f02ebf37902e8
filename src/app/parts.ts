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

/** What a server is made of. */
export interface ServiceParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the measurements; null measures nothing. */
  readonly metrics: ExposedMetrics | null;
  /** Time between two requests of a visitor of the dashboard, in milliseconds; undefined is the usual one. Tests that are not about it wait less. */
  readonly visitIntervalMs?: number;
  /** For how long the body of a request may stand still, in milliseconds; undefined is the usual time of each kind. Tests wait less. */
  readonly bodyGraceMs?: number;
  /** How somebody waits who signs in after failures; undefined is by the machine's time. */
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
  /** What only this engine has to clean up: each deletes some rows and returns how many. */
  readonly cleanUps: readonly (() => Promise<number>)[];
}

/** What an engine is told of, besides {@link ServiceParts}, when it stores posts. */
export interface StoringParts {
  readonly usage: UsageCounter;
  readonly spam: SpamMemory;
  /** Null without a mail server. */
  readonly mayReply: MayReply | null;
}
