import type { Database } from "../database/database.ts";
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
  ): SubmissionPage;
  /** @throws not_found */
  find(endpointId: string, id: string): Submission;
  /** Deletes it for good. @throws not_found */
  remove(endpointId: string, id: string): void;
}

/** @param onRemoved told after each deletion. */
export function createSubmissionReader(db: Database, onRemoved: () => void): SubmissionReader {
  const find = (endpointId: string, id: string): Submission => {
    const submission = findSubmission(db, id);
    if (submission.endpointId === endpointId) return submission;
    throw new FormsvcError("not_found", `there is no submission ${id}`);
  };
  return {
    list: (filter, limit, cursor) => listSubmissions(db, filter, limit, cursor),
    find,
    remove(endpointId, id) {
      db.transaction(() => deleteSubmissions(db, [find(endpointId, id).id]));
      onRemoved();
    },
  };
}
