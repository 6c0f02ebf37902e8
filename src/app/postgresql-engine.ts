import type { PostgresqlDatabase } from "../database/postgresql/open-postgresql.ts";
import { type Outcomes, DatabaseRefusals } from "../database/postgresql/refusals.ts";
import { createRateExchange } from "../database/postgresql/rate-exchange.ts";
import { serveAddress } from "../database/postgresql/served-postgresql.ts";
import { SingleFlight } from "../foundation/single-flight.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { createJointRateLimiter } from "../foundation/joint-rate-limit.ts";
import { createOutbox } from "../outbox/queue/outbox.ts";
import { createClaims } from "../outbox/engines/postgresql-claims.ts";
import { createPostgresqlBatch } from "../submissions/commit/postgresql-batch.ts";
import type { Engine, ServiceParts, StoringParts } from "./parts.ts";

/** The time between two exchanges of counts with the other servers. */
const EXCHANGE_MS = 250;

/** Opens the engine of PostgreSQL. Several servers may share the database, so what they share is in its tables. */
export function openPostgresqlEngine(
  db: PostgresqlDatabase,
  { config, clock, log }: ServiceParts,
  { usage, spam, mayReply }: StoringParts,
): Engine {
  const refusals = new DatabaseRefusals(log, db.name);
  const served = serveAddress(db, clock.now(), log, refusals);
  const outbox = createOutbox();
  const limiter = createJointRateLimiter();
  const rates = createRateExchange(db, limiter, served.liveServers);
  let exchanging: Repetition | null = null;
  return {
    served: {
      ...served,
      async begin() {
        await served.begin();
        exchanging = repeatSingly(EXCHANGE_MS, () => rates.exchange(), refusals.of("rates"));
      },
      async end() {
        await exchanging?.stop();
        await served.end();
      },
    },
    outbox,
    claims: createClaims(served.liveServers, served.confirmations),
    write: createPostgresqlBatch({
      db,
      usage,
      outbox,
      memory: spam,
      held: config.held,
      mayReply,
      onMemoryFailure: (error) => maintenanceFailed(log, error),
    }),
    limiter,
    cleanUps: [() => rates.dropEnded()],
  };
}

interface Repetition {
  stop(): Promise<void>;
}

/** Runs `work` at regular times, never twice at once. After a failure it is tried again at the next time. */
function repeatSingly(ms: number, work: () => Promise<void>, outcomes: Outcomes): Repetition {
  const flights = new SingleFlight();
  const timer = setInterval(() => {
    void flights.run(() => work().then(outcomes.succeeded, outcomes.failed));
  }, ms);
  return {
    async stop() {
      clearInterval(timer);
      await flights.settle();
    },
  };
}
