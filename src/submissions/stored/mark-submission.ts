import type { Steps } from "../../database/steps.ts";
import { getEndpoint } from "../../endpoints/endpoint-store.ts";
import { isFileList } from "../../foundation/file-list.ts";
import { KeptLessons } from "../../history/kept-lessons.ts";
import { type Mark, teach, unteach } from "../../history/teach.ts";
import type { SpamPost } from "../../spam/spam-post.ts";
import { getSubmission } from "./submission-store.ts";
import type { Submission } from "./submission.ts";

/** A submission with the workspace whose filter learns from it. */
export interface SubmissionInWorkspace {
  readonly workspaceId: string;
  readonly submission: Submission;
}

/**
 * Marks submissions, all or none, and teaches the filters of their workspaces. The mark null removes a mark and what it taught. Returns the
 * workspace of each submission.
 *
 * @param kept what the transaction before, of the same work, has learned of; accept it after the commit.
 * @throws not_found naming the first id that does not exist.
 */
export function* markSubmissions(
  ids: readonly string[],
  { mark, kept = new KeptLessons() }: { readonly mark: Mark | null; readonly kept?: KeptLessons },
  now: number,
): Steps<readonly string[]> {
  const marked: SubmissionInWorkspace[] = [];
  for (const id of ids) {
    const submission = yield* getSubmission(id);
    const { workspaceId } = yield* getEndpoint(submission.endpointId);
    marked.push({ workspaceId, submission });
  }
  if (mark !== null) yield* teachSubmissions(marked, { mark, kept }, now);
  else
    yield* unteach(
      marked.map(({ workspaceId, submission }) => ({ workspaceId, submissionId: submission.id })),
      kept,
    );
  return marked.map(({ workspaceId }) => workspaceId);
}

/** Teaches the filters of the workspaces that these submissions have this mark. */
export function* teachSubmissions(
  marked: readonly SubmissionInWorkspace[],
  { mark, kept = new KeptLessons() }: { readonly mark: Mark; readonly kept?: KeptLessons },
  now: number,
): Steps<void> {
  const posts = marked.map(({ workspaceId, submission }) => ({
    workspaceId,
    endpointId: submission.endpointId,
    submissionId: submission.id,
    post: postOf(submission),
  }));
  yield* teach(posts, { mark, kept }, now);
}

/** A stored post in the form that the filter takes. As when it came, its files are not read: no two files have the same id. */
export function postOf({
  data,
  ...submission
}: Pick<Submission, "data" | "ipAddress" | "userAgent">): SpamPost {
  return {
    fields: Object.fromEntries(Object.entries(data).filter(([, value]) => !isFileList(value))),
    honeypots: [],
    elapsedMs: null,
    client: { ipAddress: submission.ipAddress, userAgent: undefined, acceptLanguage: undefined },
  };
}
