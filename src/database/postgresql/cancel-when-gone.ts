import type { PoolClient } from "pg";
import type { Connections } from "./connections.ts";

/** Ends what {@link cancelWhenGone} began. Call it before the transaction ends. */
export interface Cancelling {
  /** Waits for a cancel that is under way. Returns whether nobody knows if it still comes: the connection is of no more use then. */
  end(): Promise<boolean>;
}

interface Session {
  readonly pid: number;
  readonly begun: number;
}

/** Asked inside the transaction: behind a pooler the next one may have another process of PostgreSQL's. */
const SESSION_SQL = "SELECT pg_backend_pid() AS pid, (extract(epoch FROM now()) * 1000000)::bigint AS begun";
/** Cancels nothing if the process is in another transaction by now, or is somebody else's. */
const CANCEL_SQL = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND (extract(epoch FROM xact_start) * 1000000)::bigint = $2`;

/**
 * Cancels the statement of a transaction when nobody waits for it any more, over another connection. The transaction stays open until
 * that is answered, so that no later statement is hit. If it cannot be done, the statement goes on up to its own limit.
 *
 * @param client one on which the transaction was begun.
 */
export function cancelWhenGone(client: PoolClient, connections: Connections, gone: AbortSignal): Cancelling {
  const session = client.query<Session>(SESSION_SQL);
  session.catch(() => undefined);
  let isOver = false;
  /** Resolves to whether the cancel was answered. */
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
