import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "./database.ts";
import type { Steps } from "./steps.ts";

/**
 * One slice of a long read. All other work of the process has its turn first, so that a search through millions of rows delays
 * a post by one slice at most.
 */
export async function readInTurn<Result>(db: Database, work: () => Steps<Result>): Promise<Result> {
  await nextTurn();
  return db.read(work);
}
