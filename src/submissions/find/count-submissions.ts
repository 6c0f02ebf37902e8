import type { Database } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import { first, type Steps, text } from "../../database/steps.ts";
import { firstIdAt } from "../../foundation/id.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import { NUMBER_OF_ENDPOINT } from "../stored/endpoint-number.ts";

/** The number of rows of the index that one slice counts, in about a millisecond. */
const SLICE_ROWS = 5000;

export interface CountedPeriod {
  readonly endpointId: string;
  /** Milliseconds since 1970 UTC, inclusive. */
  readonly since: number;
  /** Milliseconds since 1970 UTC, exclusive. */
  readonly until: number;
}

const COUNT_SQL = `SELECT count(*) AS counted, max(id) AS last FROM (
  SELECT id FROM submission WHERE endpoint_number = ${NUMBER_OF_ENDPOINT} AND id >= ? AND id < ? ${NOT_BINNED_SQL} ORDER BY id LIMIT ?) AS slice`;

/**
 * Counts the stored submissions of a period, in slices so that no post waits. Stops when there are more than `most`: the result is then
 * somewhat larger than `most`.
 */
export async function countSubmissions(
  db: Database,
  { endpointId, since, until }: CountedPeriod,
  most: number,
): Promise<number> {
  const end = firstIdAt("sub", until);
  let from = firstIdAt("sub", since);
  let total = 0;
  for (;;) {
    const start = from;
    const { counted, last } = await readSlice(db, () => countSlice([endpointId, start, end, SLICE_ROWS]));
    total += counted;
    if (counted < SLICE_ROWS || last === null || total > most) return total;
    // All ids have the same length, so no other id lies between the last one and this text.
    from = `${last}~`;
  }
}

interface Slice {
  readonly counted: number;
  readonly last: string | null;
}

function* countSlice(parameters: readonly unknown[]): Steps<Slice> {
  return (yield* first(text<Slice>(COUNT_SQL, ...parameters))) ?? { counted: 0, last: null };
}

const NEWEST_SQL = `SELECT created_at AS at FROM submission
  WHERE endpoint_number = ${NUMBER_OF_ENDPOINT} ${NOT_BINNED_SQL} ORDER BY id DESC LIMIT 1`;

/** The time of the newest stored submission of an endpoint, in milliseconds; null if it has none. */
export function* lastSubmissionAt(endpointId: string): Steps<number | null> {
  return (yield* first(text<{ at: number }>(NEWEST_SQL, endpointId)))?.at ?? null;
}
