import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import {
  deleteSubmissions,
  findSubmission,
  listSubmissions,
  type SubmissionFilter,
  type SubmissionPage,
} from "./submission-store.ts";
import type { Submission } from "./submission.ts";

/** One endpoint's submissions, for whoever holds its secret key; another endpoint's do not exist here. */
export interface SubmissionReader {
  /** Newest first. @throws invalid_request when the cursor is not one that a page returned. */
  list(
    filter: SubmissionFilter & { endpointId: string },
    limit: number,
    cursor: string | null,
  ): Promise<SubmissionPage>;
  /** @throws not_found */
  find(endpointId: string, id: string): Promise<Submission>;
  /** Deletes it for good. @throws not_found */
  remove(endpointId: string, id: string): Promise<void>;
}

/** @param onRemoved told after each deletion. */
export function createSubmissionReader(db: Database, onRemoved: () => void): SubmissionReader {
  return {
    list: (filter, limit, cursor) => db.read(() => listSubmissions(filter, limit, cursor)),
    find: (endpointId, id) => db.read(() => findOwn(endpointId, id)),
    async remove(endpointId, id) {
      await db.transaction(function* () {
        yield* findOwn(endpointId, id);
        yield* deleteSubmissions([id]);
      });
      onRemoved();
    },
  };
}

function* findOwn(endpointId: string, id: string): Steps<Submission> {
  const submission = yield* findSubmission(id);
  if (submission.endpointId === endpointId) return submission;
  throw new FormsvcError("not_found", `there is no submission ${id}`);
}
