import type { PoolClient } from "pg";
import type { Connections } from "./connections.ts";

/** The result of {@link cancelWhenGone}. Call `end` before the transaction ends. */
export interface Cancelling {
  /**
   * Waits for a cancel that was sent. Returns true if it is unknown whether the cancel will still arrive: then the connection must not be
   * used again.
   */
  end(): Promise<boolean>;
}

interface Session {
  readonly pid: number;
  readonly begun: number;
}

/** Runs inside the transaction, because behind a pooler the next transaction may have another process of PostgreSQL. */
const SESSION_SQL = "SELECT pg_backend_pid() AS pid, (extract(epoch FROM now()) * 1000000)::bigint AS begun";
/** Cancels nothing if the process now runs another transaction, or belongs to another user. */
const CANCEL_SQL = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND (extract(epoch FROM xact_start) * 1000000)::bigint = $2`;

/**
 * Cancels the running statement of a transaction, over another connection, when nobody waits for its result any more. The transaction stays
 * open until the cancel is answered, so that it cannot hit a later statement. If the cancel fails, the statement runs up to its own time
 * limit.
 *
 * @param client a connection on which the transaction has begun.
 */
export function cancelWhenGone(client: PoolClient, connections: Connections, gone: AbortSignal): Cancelling {
  const session = client.query<Session>(SESSION_SQL);
  session.catch(() => undefined);
  let isOver = false;
  /** Resolves to false if the cancel was not answered; null if none was sent. */
  let sent: Promise<boolean> | null = null;
  const cancel = async (): Promise<void> => {
    const { rows } = await session;
    const [{ pid, begun } = { pid: 0, begun: 0 }] = rows;
    const other = await connections.take();
    if (isOver) {
      other.release();
      return;
    }
    sent = other.query(CANCEL_SQL, [pid, begun]).then(
      () => true,
      () => false,
    );
    other.release(!(await sent));
  };
  const onGone = (): void => void cancel().catch(() => undefined);
  gone.addEventListener("abort", onGone);
  return {
    async end() {
      isOver = true;
      gone.removeEventListener("abort", onGone);
      return (await sent) === false;
    },
  };
}
