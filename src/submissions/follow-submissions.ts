import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { SubmissionFilter } from "./submission-store.ts";
import { readTail, type TailPosition } from "./tail.ts";
import type { StoredSubmission } from "./submission-work.ts";

/** The submissions that are followed, and the position after which they begin. */
export interface Tail {
  /** Asked again for each page: whoever follows hears only of what they may see by now. */
  readonly readFilter: () => Steps<SubmissionFilter>;
  readonly from: TailPosition;
  /** Submissions that are read at once. */
  readonly pageSize: number;
}

/**
 * Every submission that is committed after a position, in the order of the commits, without end.
 *
 * @param changed is called when there is nothing new. It waits for a commit, and must also see one from the time between its last
 *   return and its call.
 */
export async function* followSubmissions(
  db: Database,
  { readFilter, from, pageSize }: Tail,
  changed: () => Promise<void>,
): AsyncGenerator<StoredSubmission, never> {
  let position = from;
  for (;;) {
    const page = await db.read(function* () {
      return yield* readTail(yield* readFilter(), position, pageSize);
    });
    yield* page.submissions;
    position = page.position;
    if (page.submissions.length === 0) await changed();
  }
}
