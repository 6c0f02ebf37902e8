import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

const END_WAITS = {
  cancel: "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  terminate: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
} as const;

/** Without it this and the servers, whose waits begin anew, would take all of the processor. */
const PAUSE_MS = 10;

/**
 * Ends each wait for the standby, so that what it waited with is to be seen on the primary alone. Returns what stops it.
 *
 * @param admin whose own commits wait for no standby.
 */
export function endWaits(admin: Client, how: keyof typeof END_WAITS): () => Promise<void> {
  const end = new AbortController();
  const ending = (async () => {
    while (!end.signal.aborted) {
      await admin.query(END_WAITS[how]);
      await sleep(PAUSE_MS);
    }
  })();
  return async () => {
    end.abort();
    await ending;
  };
}
