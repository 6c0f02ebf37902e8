import { pause } from "./kept-connection.ts";
import { WITH_LOCAL_COMMIT } from "./local-commit.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";
import type { Outcomes } from "./refusals.ts";

/** Each database has channels of its own. */
const CHANNEL = "formsvc";
/** Who listens is sent the name of the server that notifies. */
export const LISTEN_SQL = `LISTEN ${CHANNEL}`;
const NOTIFY_SQL = `${WITH_LOCAL_COMMIT} SELECT pg_notify('${CHANNEL}', $1) FROM settings`;
/** Least time between two notifications of a server: PostgreSQL commits them one after the other, those of all databases. */
const PAUSE_MS = 50;

/** Notifies the servers that listen, in a transaction of its own. */
export interface ServerNotifier {
  notify(): void;
  /** Resolves when nothing is under way. Call it before the database is closed. */
  stop(): Promise<void>;
}

export function createServerNotifier(
  db: Pick<PostgresqlDatabase, "withConnection">,
  self: string,
  outcomes: Omit<Outcomes, "reason">,
): ServerNotifier {
  const stopping = new AbortController();
  let isAsked = false;
  let running: Promise<void> | null = null;
  const work = async (): Promise<void> => {
    while (isAsked) {
      isAsked = false;
      // Those who are not notified find out a little later.
      await db
        .withConnection((client) => client.query(NOTIFY_SQL, [self]))
        .then(outcomes.succeeded, outcomes.failed);
      await pause(PAUSE_MS, stopping.signal);
    }
    running = null;
  };
  return {
    notify() {
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
