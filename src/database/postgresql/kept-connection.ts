import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { Connections } from "./connections.ts";
import type { Outcomes } from "./refusals.ts";

/** Pause before a broken connection is replaced. */
const RETRY_MS = 100;

/** Work that runs on a connection that is kept. */
export interface KeptWork {
  readonly connections: Connections;
  readonly signal: AbortSignal;
  /** Runs until it fails or the signal is aborted. It reports successes itself; an error that it throws is reported as a failure. */
  readonly run: (client: PoolClient) => Promise<void>;
  readonly outcomes: Pick<Outcomes, "failed">;
}

/** Runs work on a connection that is kept. If the work throws, it starts again on a new connection, until the signal is aborted. */
export async function keepConnection({ connections, signal, run, outcomes }: KeptWork): Promise<void> {
  while (!signal.aborted) {
    let client: PoolClient | null = null;
    try {
      client = await connections.take();
      await run(client);
      client.release();
    } catch (error) {
      if (!signal.aborted) outcomes.failed(error);
      if (client !== null) destroy(client);
      await pause(RETRY_MS, signal);
    }
  }
}

/** Closes a connection at once. `release` alone would wait for answers that may never come. */
export function destroy(client: PoolClient): void {
  client.connection.stream.destroy();
  client.release(true);
}

/** Pauses. If the signal is aborted, the pause ends early, without an error. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Waits for an answer. @throws if it takes longer or the signal is aborted; then the connection must not be used again. */
export async function answerWithin<Answer>(
  answer: Promise<Answer>,
  ms: number,
  signal: AbortSignal,
): Promise<Answer> {
  answer.catch(() => undefined);
  const over = new AbortController();
  const limit = sleep(ms, undefined, { signal: AbortSignal.any([signal, over.signal]) }).finally(() => {
    throw new Error("the server said nothing in time");
  });
  limit.catch(() => undefined);
  try {
    return await Promise.race([answer, limit as Promise<never>]);
  } finally {
    over.abort();
  }
}
