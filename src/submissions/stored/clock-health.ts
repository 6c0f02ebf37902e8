import { newestChangeAt } from "../../audit/audit-store.ts";
import { first, type Steps, text } from "../../database/steps.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { timeOfId } from "../../foundation/id.ts";

/** What was written may be this far ahead of the clock: another machine may have written it, or the clock was set back a little. */
const CLOCK_ALLOWANCE_MS = 60_000;

const NEWEST_MESSAGE_SQL = `SELECT id, submission_id FROM delivery
  WHERE NOT EXISTS (SELECT 1 FROM submission_bin WHERE submission_bin.id = submission_id) ORDER BY id DESC LIMIT 1`;

/**
 * Compares the clock with what this program has dated by it: changes, and messages by their ids. The times and ids of submissions prove
 * nothing, because an import brings both.
 */
export function* checkClock(now: number): Steps<Finding> {
  const latest = now + CLOCK_ALLOWANCE_MS;
  const message = yield* first(text<{ id: string; submission_id: string }>(NEWEST_MESSAGE_SQL));
  if (message !== undefined && timeOfId(message.id) > latest) {
    const { id, submission_id: submissionId } = message;
    const of = `the newest message of ${toIsoTime(timeOfId(id))} (${id} about ${submissionId})`;
    const advice = { kind: "set_clock_or_delete_submission", submissionId } as const;
    return problem("machine.clock", `it is ${toIsoTime(now)}, before ${of}`, advice);
  }
  const changedAt = yield* newestChangeAt();
  if (changedAt !== null && changedAt > latest) {
    const of = `the newest change of ${toIsoTime(changedAt)}`;
    return problem("machine.clock", `it is ${toIsoTime(now)}, before ${of}`, { kind: "set_clock" });
  }
  return sound("machine.clock", `it is ${toIsoTime(now)}, after everything that the server has dated`);
}
