import type { PoolClient } from "pg";
import type { Connections } from "./connections.ts";
import { answerWithin, keepConnection, pause } from "./kept-connection.ts";
import { sayAlive } from "./live-server-rows.ts";
import type { Outcomes } from "./refusals.ts";

const INTERVAL_MS = 1000;
/** The longest wait for a beat; it waits at most for PostgreSQL's own disk. */
const SILENCE_MS = 3000;

/** Says each second that this server lives. A beat does not wait for a standby, because it need not survive the primary. */
export class Heartbeat {
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  /** Starts. The row of this server must exist already. */
  start(connections: Connections, self: string, outcomes: Outcomes): void {
    const { signal } = this.#stopping;
    const run = async (client: PoolClient): Promise<void> => {
      while (!signal.aborted) {
        await answerWithin(sayAlive(client, self), SILENCE_MS, signal);
        outcomes.succeeded();
        await pause(INTERVAL_MS, signal);
      }
    };
    this.#running = keepConnection({ connections, signal, run, outcomes });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
