import { toIsoTime } from "../../foundation/clock.ts";
import { timeOfId } from "../../foundation/id.ts";

/** The largest time by which something imported may be ahead of the clock: those of two machines differ a little. */
const ALLOWANCE_MS = 60_000;

/**
 * What is wrong with a time that has not come yet; null if nothing is. Such a submission would stand before all that are posted, and no
 * retention would ever end it.
 *
 * @param given the time as it stands in the file
 */
export function aheadOfClock(time: number, given: string, now: number): string | null {
  if (time <= now + ALLOWANCE_MS) return null;
  return `${given} has not come yet: it is ${toIsoTime(now)}`;
}

/** The same for a line of an export, whose id has a time too. Null if nothing is wrong. */
export function lineAheadOfClock(
  { id, created_at: at }: { readonly id: string; readonly created_at: string },
  now: number,
): string | null {
  const problem =
    aheadOfClock(Date.parse(at), `created_at ${at}`, now) ??
    aheadOfClock(timeOfId(id), `the time of the id ${id}, ${toIsoTime(timeOfId(id))},`, now);
  return problem && `${problem}; set the clock of this machine if it is wrong, or correct the line`;
}
