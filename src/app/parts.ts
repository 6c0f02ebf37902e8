import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import type { ExposedMetrics } from "../foundation/metrics.ts";

/** What a server is made of. */
export interface ServiceParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the measurements; null measures nothing. */
  readonly metrics: ExposedMetrics | null;
}
