import type { Steps } from "../../database/steps.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { newestSubmission } from "./submission-store.ts";

/** A submission may be this far ahead of the clock: another machine may have made it, or the clock was set back a little. */
const CLOCK_ALLOWANCE_MS = 60_000;

export function* checkClock(now: number): Steps<Finding> {
  const newest = yield* newestSubmission();
  if (newest === undefined || newest.created_at <= now + CLOCK_ALLOWANCE_MS) {
    return sound("machine.clock", `it is ${toIsoTime(now)}, after everything stored`);
  }
  return problem(
    "machine.clock",
    `it is ${toIsoTime(now)}, before the newest submission of ${toIsoTime(newest.created_at)} (${newest.id})`,
    { kind: "set_clock_or_delete_submission", submissionId: newest.id },
  );
}
