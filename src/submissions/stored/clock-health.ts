import { newestChangeAt } from "../../audit/audit-store.ts";
import { first, type Steps, text } from "../../database/steps.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { firstIdAt, timeOfId } from "../../foundation/id.ts";
import { findDoubtedClock } from "./clock-seen.ts";
import { NOT_BINNED_SQL } from "./submission-bin.ts";

/** What was written may be this far ahead of the clock: another machine may have written it, or the clock was set back a little. */
const CLOCK_ALLOWANCE_MS = 60_000;

const NEWEST_MESSAGE_SQL = `SELECT id, submission_id FROM delivery
  WHERE NOT EXISTS (SELECT 1 FROM submission_bin WHERE submission_bin.id = submission_id) ORDER BY id DESC LIMIT 1`;

/** An import refuses lines whose id is ahead of the clock, so such an id was made, or let in, while the clock was ahead. */
const NEWEST_SUBMISSION_SQL = `SELECT id FROM submission WHERE id > ? ${NOT_BINNED_SQL} ORDER BY id DESC LIMIT 1`;

/** Compares the clock with what this program has dated by it: changes, and submissions and messages by their ids. */
export function* checkClock(now: number): Steps<Finding> {
  const doubted = yield* findDoubtedClock();
  if (doubted !== undefined) {
    const step = `it went from ${toIsoTime(doubted.seenAt)} to ${toIsoTime(doubted.doubtedAt)} at once`;
    const consequence = "nothing is deleted by its age until a server has run for a day since then";
    return problem("machine.clock", `${step}; ${consequence}`, { kind: "set_clock_or_wait" });
  }
  const latest = now + CLOCK_ALLOWANCE_MS;
  const message = yield* first(text<{ id: string; submission_id: string }>(NEWEST_MESSAGE_SQL));
  if (message !== undefined && timeOfId(message.id) > latest) {
    const { id, submission_id: submissionId } = message;
    const of = `the newest message of ${toIsoTime(timeOfId(id))} (${id} about ${submissionId})`;
    const advice = { kind: "set_clock_or_delete_submission", submissionId } as const;
    return problem("machine.clock", `it is ${toIsoTime(now)}, before ${of}`, advice);
  }
  const submission = yield* first(text<{ id: string }>(NEWEST_SUBMISSION_SQL, firstIdAt("sub", latest)));
  if (submission !== undefined) {
    const { id } = submission;
    const advice = { kind: "set_clock_or_delete_submission", submissionId: id } as const;
    const of = `the newest submission of ${toIsoTime(timeOfId(id))} (${id})`;
    return problem("machine.clock", `it is ${toIsoTime(now)}, before ${of}`, advice);
  }
  const changedAt = yield* newestChangeAt();
  if (changedAt !== null && changedAt > latest) {
    const of = `the newest change of ${toIsoTime(changedAt)}`;
    return problem("machine.clock", `it is ${toIsoTime(now)}, before ${of}`, { kind: "set_clock" });
  }
  return sound("machine.clock", `it is ${toIsoTime(now)}, after everything that the server has dated`);
}
