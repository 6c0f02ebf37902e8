import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";
import type { Steps } from "./steps.ts";

/**
 * If the work of others takes longer than this in one turn of the event loop, a long read pauses. An idle turn takes some microseconds, a
 * post 60.
 */
const BUSY_MS = 0.05;
/** The length of the pause: a post needs several turns, and this is enough for them and for its commit. */
const REST_MS = 4;

/** All long work of the process waits in one line, so that a post waits for only one part of it, however much there is. */
let last: Promise<void> = Promise.resolve();

/**
 * Call it between the parts of long work. All other work of the process goes first; if there was any, the next milliseconds are left to it
 * as well. So long work delays a post by at most one of its parts.
 */
export function yieldToOthers(): Promise<void> {
  last = last.then(letOthers);
  return last;
}

async function letOthers(): Promise<void> {
  const begun = performance.now();
  await nextTurn();
  if (performance.now() - begun > BUSY_MS) await sleep(REST_MS);
}

/**
 * Runs one of several transactions after everything else that waits. Awaiting a promise alone would let nothing else come between two of
 * them.
 */
export async function writeSlice<Result>(db: Database, work: () => Steps<Result>): Promise<Result> {
  await yieldToOthers();
  return db.transaction(work);
}

/**
 * Reads one slice of a long read, after everything else that waits.
 *
 * @param gone ends the read, with its reason, when nobody waits for it any more.
 */
export async function readSlice<Result>(
  db: Database,
  work: () => Steps<Result>,
  gone?: AbortSignal,
): Promise<Result> {
  await yieldToOthers();
  gone?.throwIfAborted();
  return db.read(work, gone);
}
