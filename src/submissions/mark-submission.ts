import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { Steps } from "../database/steps.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import { type Mark, teach, unteach } from "../history/teach.ts";
import type { SpamPost } from "../spam/spam-post.ts";
import { getSubmission } from "./submission-store.ts";
import type { Submission } from "./submission.ts";

/**
 * Marks a submission and teaches its workspace's filter; null undoes the mark and what it taught.
 *
 * @throws not_found
 */
export function* markSubmission(
  db: SqliteDatabase,
  id: string,
  mark: Mark | null,
  now: number,
): Steps<Submission> {
  const submission = yield* getSubmission(id);
  const { workspaceId } = yield* getEndpoint(submission.endpointId);
  if (mark === null) yield* unteach(workspaceId, id);
  else yield* teachSubmission(db, { workspaceId, submission }, mark, now);
  return submission;
}

/** Teaches the filter of a submission's workspace what the submission is. */
export function* teachSubmission(
  db: SqliteDatabase,
  { workspaceId, submission }: { readonly workspaceId: string; readonly submission: Submission },
  mark: Mark,
  now: number,
): Steps<void> {
  const { id: submissionId, endpointId } = submission;
  yield* teach(db, { workspaceId, endpointId, submissionId, post: postOf(submission) }, mark, now);
}

/** A stored post in the form that the judge takes. */
export function postOf(submission: Pick<Submission, "data" | "ipAddress" | "userAgent">): SpamPost {
  return {
    fields: submission.data,
    honeypots: [],
    elapsedMs: null,
    client: { ipAddress: submission.ipAddress, userAgent: undefined, acceptLanguage: undefined },
  };
}
