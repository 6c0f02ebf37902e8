import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import { browseSubmissions } from "./browse-submissions.ts";
import type { SearchSlots } from "./search-slots.ts";
import { type ByteRange, type FileStream, readBytes } from "../../files/read-file.ts";
import type { FileFacts } from "../../schemas/posted-file.ts";
import { getFileOf } from "../files/submission-files.ts";
import { MAX_PAGE_BYTES } from "../../operations/list-page.ts";
import {
  deleteSubmissionRows,
  getSubmission,
  noSubmission,
  readsEach,
  type SubmissionFilter,
  type SubmissionPage,
} from "../stored/submission-store.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** A file, and a function that reads its bytes. */
export interface OpenedFile {
  readonly file: FileFacts;
  readonly open: (range: ByteRange) => FileStream;
}

/** The submissions of an endpoint, for the holder of its secret key. Submissions of other endpoints and in the bin are not found. */
export interface SubmissionReader {
  /**
   * Lists the newest first, up to the limit or 1 MiB of JSON. A single larger submission is a page of its own.
   *
   * @param gone aborted when nobody waits for the page any more.
   * @throws invalid_request if the cursor is not one that a page returned; rate_limited, unavailable if the filter needs a look at each
   * submission and no slot becomes free in time.
   */
  list(
    filter: SubmissionFilter & { readonly endpointIds: readonly string[] },
    limit: number,
    cursor: string | null,
    gone: AbortSignal,
  ): Promise<SubmissionPage>;
  /** @throws not_found */
  get(endpointId: string, id: string): Promise<StoredSubmission>;
  /** Finds a file of a submission. @throws not_found; gone if its bytes are not kept any more */
  file(endpointId: string, id: string, fileId: string): Promise<OpenedFile>;
  /** Deletes a submission for good. @throws not_found */
  remove(endpointId: string, id: string): Promise<void>;
}

/** @param onRemoved called after each deletion. */
export function createSubmissionReader(
  db: Database,
  searches: SearchSlots,
  onRemoved: () => void,
): SubmissionReader {
  return {
    list(filter, limit, cursor, gone) {
      const browse = () => browseSubmissions(db, filter, { limit, cursor, maxBytes: MAX_PAGE_BYTES, gone });
      return readsEach(filter)
        ? searches.run({ name: filter.endpointIds.join(" "), gone }, browse)
        : browse();
    },
    get: (endpointId, id) => db.read(() => getOwn(endpointId, id)),
    async file(endpointId, id, fileId) {
      const file = await db.read(function* () {
        return yield* getFileOf(yield* getOwn(endpointId, id), fileId);
      });
      return { file, open: (range) => readBytes(db, file.id, range) };
    },
    async remove(endpointId, id) {
      await db.transaction(function* () {
        yield* getOwn(endpointId, id);
        yield* deleteSubmissionRows([id]);
      });
      onRemoved();
    },
  };
}

function* getOwn(endpointId: string, id: string): Steps<StoredSubmission> {
  const submission = yield* getSubmission(id);
  if (submission.endpointId === endpointId && submission.deletedAt === null) return submission;
  throw noSubmission(id);
}
