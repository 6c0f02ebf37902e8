import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Progress } from "./operation.ts";

/**
 * Runs each kind of batch until none of its rows is left, one transaction a batch. Between two of them others can write, and the door hears
 * how far it is.
 *
 * @param batches each changes some rows and returns their number; 0 means that no row of its kind is left.
 * @param expected about how many rows there are; null if that is not known.
 */
export async function* runBatches(
  db: Database,
  batches: readonly (() => Steps<number>)[],
  expected: number | null = null,
): AsyncGenerator<Progress, void> {
  let done = 0;
  for (const batch of batches) {
    let rows: number;
    do {
      rows = await db.transaction(batch);
      done += rows;
      yield { done, total: expected === null ? null : Math.max(done, expected) };
    } while (rows > 0);
  }
}
