import { all, text, type Steps } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { type GivenMark, listMarksSince, type Mark } from "../../history/teach.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import { type SpamClass, spamClassOf } from "../../spam/spam-verdict.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** How the posts had scored that owners marked, by mark and by the class that each post had when it came. */
export type MarkedScores = Readonly<Record<Mark, Readonly<Record<SpamClass, number>>>>;

export const MARKED_DAYS = 30;
/** Submissions that one statement looks up, in about a millisecond. */
const AT_ONCE = 500;

/**
 * The posts of a workspace that were marked in the last {@link MARKED_DAYS} days, 2,000 at most. Posts that were deleted since are
 * not counted, nor are held posts: a released one counts as blocked.
 *
 * @param endpointId null is every endpoint of the workspace.
 */
export function* countMarkedScores(
  workspaceId: string,
  endpointId: string | null,
  now: number,
): Steps<MarkedScores> {
  const marks = yield* listMarksSince(workspaceId, now - MARKED_DAYS * DAY_MS);
  const counts = { spam: noPosts(), ham: noPosts() };
  for (let from = 0; from < marks.length; from += AT_ONCE) {
    const some = marks.slice(from, from + AT_ONCE);
    const classes = yield* readClasses(some, endpointId);
    for (const { submissionId, mark } of some) {
      const spamClass = classes.get(submissionId);
      if (spamClass !== undefined) counts[mark][spamClass] += 1;
    }
  }
  return counts;
}

function noPosts(): Record<SpamClass, number> {
  return { low: 0, medium: 0, high: 0, blocked: 0 };
}

/** Reasons are JSON, where a quote in a submitter's text has a backslash before it. */
const RELEASED = '%"signal":"released"%';

/** The class of each of these submissions when it came. A release sets the score to 0 and says so among the reasons. */
function* readClasses(
  marks: readonly GivenMark[],
  endpointId: string | null,
): Steps<ReadonlyMap<string, SpamClass>> {
  const ids = listParameter(marks.map(({ submissionId }) => submissionId));
  const rows = yield* all(
    text<{ id: string; spam_score: number; released: number }>(
      `SELECT id, spam_score, CASE WHEN spam_reasons LIKE ? THEN 1 ELSE 0 END AS released FROM submission
        WHERE id IN ${LISTED} ${NOT_BINNED_SQL}${endpointId === null ? "" : " AND endpoint_number IN (SELECT number FROM endpoint_number WHERE endpoint_id = ?)"}`,
      RELEASED,
      ids,
      ...(endpointId === null ? [] : [endpointId]),
    ),
  );
  return new Map(
    rows.map(({ id, spam_score: score, released }) => [id, released === 1 ? "blocked" : spamClassOf(score)]),
  );
}
