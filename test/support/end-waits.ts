import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

const END_WAITS = {
  cancel: "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  terminate: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
} as const;

/** The pause between two rounds. Without it, this loop and the servers, which wait again at once, would use the whole processor. */
const PAUSE_MS = 10;

/**
 * Ends each wait for the standby, so that the effect on the primary alone can be seen. Returns a function that stops this.
 * @param admin a client whose own commits do not wait for a standby
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
