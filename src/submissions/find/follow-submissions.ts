import type { Database } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import type { SubmissionFilter } from "../stored/submission-store.ts";
import { readTail, type TailPage, type TailPosition } from "./tail.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** The submissions to follow, and the position to begin after. */
export interface Tail {
  /** Called again for each page, so that the reader gets only submissions that they may still see. */
  readonly readFilter: () => Steps<SubmissionFilter>;
  readonly from: TailPosition;
  /** The largest number of submissions that are read at once. */
  readonly pageSize: number;
  /** Ends the tail, with its reason, when nobody waits for submissions any more. */
  readonly gone?: AbortSignal | undefined;
}

/**
 * Yields every submission that is committed after a position, in the order of commits. Never returns.
 *
 * @param changed is called when there is nothing new. It resolves after the next commit, and at once if there was one since it resolved
 * last.
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
