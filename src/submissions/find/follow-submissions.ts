import type { Database } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import type { SubmissionFilter } from "../stored/submission-store.ts";
import { readTail, type TailPage, type TailPosition } from "./tail.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** The submissions that are followed, and the position after which they begin. */
export interface Tail {
  /** Asked again for each page: whoever follows hears only of what they may see by now. */
  readonly readFilter: () => Steps<SubmissionFilter>;
  readonly from: TailPosition;
  /** Submissions that are read at once. */
  readonly pageSize: number;
  /** Ends it, with its reason, when nobody waits for them any more. */
  readonly gone?: AbortSignal | undefined;
}

/**
 * Every submission that is committed after a position, in the order of the commits, without end.
 *
 * @param changed is called when there is nothing new. It waits for a commit, and must also see one from the time between its last
 *   return and its call.
 */
export async function* followSubmissions(
  db: Database,
  { readFilter, from, pageSize, gone }: Tail,
  changed: () => Promise<void>,
): AsyncGenerator<StoredSubmission, never> {
  let position = from;
  for (;;) {
    const readPage = function* (): Steps<TailPage> {
      return yield* readTail(yield* readFilter(), position, pageSize);
    };
    const page = await readSlice(db, readPage, gone);
    yield* page.submissions;
    position = page.position;
    if (page.submissions.length === 0 && !page.isCut) await changed();
  }
}
