import { all, text, type Steps } from "../../database/steps.ts";
import { LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import { type GivenMark, listMarksSince, type Mark } from "../../history/teach.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import { type SpamClass, spamClassOf } from "../../spam/spam-verdict.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** The number of posts that owners marked, by mark and by the class that the filter gave each post when it came. */
export type MarkedScores = Readonly<Record<Mark, Readonly<Record<SpamClass, number>>>>;

export const MARKED_DAYS = 30;
/** The largest number of submissions that one statement looks up, in about a millisecond. */
const AT_ONCE = 500;

/**
 * Counts the posts of a workspace that were marked in the last {@link MARKED_DAYS} days, 2,000 at most. Deleted submissions and held posts
 * are not counted. A released post counts as blocked.
 *
 * @param endpointId null means every endpoint of the workspace.
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

/** This text occurs only as a reason: reasons are JSON, in which a quote of the submitter's text has a backslash before it. */
const RELEASED = '%"signal":"released"%';

/**
 * Returns the class that each of these submissions had when it came. A release sets the score to 0 and adds a reason, by which it is
 * recognised.
 */
function* readClasses(
  marks: readonly GivenMark[],
  endpointId: string | null,
): Steps<ReadonlyMap<string, SpamClass>> {
  const ids = listParameter(marks.map(({ submissionId }) => submissionId));
  const rows = yield* all(
    text<{ id: string; spam_score: number; released: number }>(
      `SELECT id, spam_score, CASE WHEN spam_reasons LIKE ? THEN 1 ELSE 0 END AS released FROM submission
        WHERE id IN ${LISTED_IDS} ${NOT_BINNED_SQL}${endpointId === null ? "" : " AND endpoint_number IN (SELECT number FROM endpoint_number WHERE endpoint_id = ?)"}`,
      RELEASED,
      ids,
      ...(endpointId === null ? [] : [endpointId]),
    ),
  );
  return new Map(
    rows.map(({ id, spam_score: score, released }) => [id, released === 1 ? "blocked" : spamClassOf(score)]),
  );
}
