import type { PoolClient } from "pg";
import type { Writability } from "../served-database.ts";
import type { Connections } from "./connections.ts";
import { answerWithin, keepConnection, pause } from "./kept-connection.ts";
import { sayAlive } from "./live-server-rows.ts";

const INTERVAL_MS = 1000;
/** The database can be written if it was written this time ago: a beat comes each second. */
const MAX_AGE_MS = 3000;
/** Time between two checks of a beat that has no answer. */
const CHECK_MS = 1000;
/** A beat may take long, because it waits for a synchronous standby. */
const PATIENT_MS = 10_000;

export interface HeartbeatParts {
  readonly connections: Connections;
  readonly self: string;
  /** When another connection of this server was made last. */
  readonly lastConnectedAt: () => number;
}

/** Says each second that this server lives, which shows that the database can be written. */
export class Heartbeat implements Writability {
  readonly #parts: HeartbeatParts;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #wroteAt = -Infinity;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /** The row of this server must be there: it was written now. */
  start(): void {
    const { connections } = this.#parts;
    this.tell(true);
    this.#running = keepConnection(connections, this.#stopping.signal, (client) => this.#beat(client));
  }

  tell(worked: boolean): void {
    this.#wroteAt = worked ? performance.now() : -Infinity;
  }

  isWritable(): boolean {
    return performance.now() - this.#wroteAt < MAX_AGE_MS;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #beat(client: PoolClient): Promise<void> {
    const { signal } = this.#stopping;
    const connectedAt = performance.now();
    while (!signal.aborted) {
      await this.#patiently(sayAlive(client, this.#parts.self), connectedAt);
      this.tell(true);
      await pause(INTERVAL_MS, signal);
    }
  }

  /**
   * Waits as long as the server may be waiting for its standby: each new connection would wait behind the row of the first. A connection
   * that is silent is given up only if another one was made since, because then this server's end is no longer the primary's.
   */
  async #patiently(beat: Promise<void>, connectedAt: number): Promise<void> {
    const { signal } = this.#stopping;
    const sentAt = performance.now();
    let isOver = false;
    const answered = beat.finally(() => {
      isOver = true;
    });
    answered.catch(() => undefined);
    for (;;) {
      try {
        return await answerWithin(answered, CHECK_MS, signal);
      } catch (error) {
        const waitedMs = performance.now() - sentAt;
        const isReplaced = waitedMs > PATIENT_MS && this.#parts.lastConnectedAt() > connectedAt;
        if (isOver || signal.aborted || isReplaced) throw error;
      }
    }
  }
}
