import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";
import type { Steps } from "./steps.ts";

/** Work of others in one turn of the event loop that makes a long read rest: an idle turn takes some microseconds, a post takes 60. */
const BUSY_MS = 0.05;
/** How long it rests then: a post needs several turns, and this is enough for them and for its commit. */
const REST_MS = 4;

/** Long work of the whole process is in one line, so that a post waits for one part of all of it, however much there is. */
let last: Promise<void> = Promise.resolve();

/**
 * Call it between the parts of long work. All other work of the process goes first; if there was any, it has the next
 * milliseconds to itself as well. So long work delays a post by one of its parts at most.
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

/** One transaction of several, after everything else that waits: a promise alone lets nothing else come between two of them. */
export async function writeSlice<Result>(db: Database, work: () => Steps<Result>): Promise<Result> {
  await yieldToOthers();
  return db.transaction(work);
}

/**
 * One slice of a long read, after everything else that waits.
 *
 * @param gone ends it, with its reason, when nobody waits for it any more.
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
