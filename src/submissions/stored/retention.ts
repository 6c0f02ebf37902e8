import { deleteSome } from "../../database/some-rows.ts";
import { run, type Steps, textByEngine } from "../../database/steps.ts";
import { listRetentions } from "../../endpoints/endpoint-store.ts";
import { firstIdAt } from "../../foundation/id.ts";
import { emptyOldBin } from "./submission-bin.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** The largest number of submissions deleted in one transaction, so that posts never wait long for it. */
const BATCH_SIZE = 200;

/** Pairs are compared because both engines then walk the index by endpoint and id, and end after a batch, whatever they believe of the table. */
const EXPIRE_SQL = deleteSome(
  "submission",
  ["id"],
  (id) =>
    `SELECT ${id} FROM submission WHERE (endpoint_number, id) >= (?, '') AND (endpoint_number, id) < (?, ?)
     ORDER BY submission.endpoint_number, submission.id LIMIT ?`,
);

/**
 * Deletes up to 200 submissions that are older than their endpoint keeps them, or have been in the bin for `binDays`. Returns the number
 * deleted.
 */
export function* expireSubmissions(binDays: number, now: number): Steps<number> {
  let left = BATCH_SIZE;
  for (const endpoint of yield* listRetentions()) {
    if (left === 0) break;
    const oldest = firstIdAt("sub", now - endpoint.keepDays * DAY_MS);
    left -= yield* run(textByEngine(EXPIRE_SQL, endpoint.number, endpoint.number, oldest, left));
  }
  if (left > 0) left -= yield* emptyOldBin(binDays, now, left);
  return BATCH_SIZE - left;
}
