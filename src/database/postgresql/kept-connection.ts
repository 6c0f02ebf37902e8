import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { Connections } from "./connections.ts";
import type { Outcomes } from "./refusals.ts";

/** Pause before a connection is made in place of one that broke. */
const RETRY_MS = 100;

/** What runs on a connection that is kept. */
export interface KeptWork {
  readonly connections: Connections;
  readonly signal: AbortSignal;
  /** Goes on until it fails or the signal is aborted. It tells what succeeds; what it throws is told as failed. */
  readonly run: (client: PoolClient) => Promise<void>;
  readonly outcomes: Pick<Outcomes, "failed">;
}

/** Runs work on a connection that it keeps, and from its start again on a new one when it throws, until it is stopped. */
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

/** The driver would wait for answers that may never come. */
export function destroy(client: PoolClient): void {
  client.connection.stream.destroy();
  client.release(true);
}

/** Ends early, and does not throw, when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** @throws when the answer takes longer or the signal is aborted. The connection is of no more use then. */
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
