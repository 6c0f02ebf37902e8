import { pause } from "./kept-connection.ts";
import { WITH_LOCAL_COMMIT } from "./local-commit.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";
import type { Outcomes } from "./refusals.ts";

/** The channel of notifications; each database has channels of its own. */
const CHANNEL = "formsvc";
/** Subscribes to notifications. Each contains the id of the server that sent it. */
export const LISTEN_SQL = `LISTEN ${CHANNEL}`;
const NOTIFY_SQL = `${WITH_LOCAL_COMMIT} SELECT pg_notify('${CHANNEL}', $1) FROM settings`;
/**
 * The shortest time between two notifications of a server, because PostgreSQL commits notifications one after the other, even those of
 * different databases.
 */
const PAUSE_MS = 50;

/** Sends a notification to the servers that listen, in a transaction of its own. */
export interface ServerNotifier {
  notify(): void;
  /** Resolves when nothing is being sent. Call it before the database is closed. */
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
      // If this fails, the other servers see the change a little later.
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
