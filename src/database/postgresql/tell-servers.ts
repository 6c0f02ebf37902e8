import { pause } from "./kept-connection.ts";
import { WITH_LOCAL_COMMIT } from "./local-commit.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";
import type { Outcomes } from "./refusals.ts";

/** Each database has channels of its own. */
const CHANNEL = "formsvc";
/** Who listens is told which server tells. */
export const LISTEN_SQL = `LISTEN ${CHANNEL}`;
const TELL_SQL = `${WITH_LOCAL_COMMIT} SELECT pg_notify('${CHANNEL}', $1) FROM settings`;
/** Least time between two notifications of a server: PostgreSQL commits them one after the other, those of all databases. */
const PAUSE_MS = 50;

/** Tells the servers that listen, in a transaction of its own. */
export interface Teller {
  tell(): void;
  /** Resolves when nothing is under way. Call it before the database is closed. */
  stop(): Promise<void>;
}

export function createTeller(
  db: Pick<PostgresqlDatabase, "withConnection">,
  self: string,
  outcomes: Omit<Outcomes, "reason">,
): Teller {
  const stopping = new AbortController();
  let isAsked = false;
  let running: Promise<void> | null = null;
  const work = async (): Promise<void> => {
    while (isAsked) {
      isAsked = false;
      // Those who are not told find out a little later.
      await db
        .withConnection((client) => client.query(TELL_SQL, [self]))
        .then(outcomes.succeeded, outcomes.failed);
      await pause(PAUSE_MS, stopping.signal);
    }
    running = null;
  };
  return {
    tell() {
      if (stopping.signal.aborted) return;
      isAsked = true;
      running ??= work();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
