import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";
import type { Steps } from "./steps.ts";

/** Work of others in one turn that makes a long read rest: an idle turn takes some microseconds, a post takes 60. */
const BUSY_MS = 0.05;
/** How long it rests then: a post needs several turns, and this is enough for them and for its commit. */
const REST_MS = 4;

/**
 * One slice of a long read. All other work of the process has its turn first; if there was any, it has the next
 * milliseconds to itself as well. So a search through millions of rows delays a post by one slice at most.
 */
export async function readInTurn<Result>(db: Database, work: () => Steps<Result>): Promise<Result> {
  const begun = performance.now();
  await nextTurn();
  if (performance.now() - begun > BUSY_MS) await sleep(REST_MS);
  return db.read(work);
}
