import type { Database } from "../database/database.ts";
import { readInTurn } from "../database/read-in-turn.ts";
import { checkCursor } from "../foundation/id.ts";
import {
  type Candidate,
  isOfClass,
  listCandidates,
  readSubmissions,
  type SubmissionFilter,
  type SubmissionPage,
} from "./submission-store.ts";

/** Submissions that one slice looks at, which takes a millisecond or two. */
const SLICE_ROWS = 250;

export interface PageRequest {
  readonly limit: number;
  /** A `nextCursor`, or null for the first page. */
  readonly cursor: string | null;
  /** Most bytes of JSON on the page; it still has at least one submission, if there is one. Infinity is no limit. */
  readonly maxBytes: number;
}

/**
 * One page, newest first. A filter by class may look at every submission, because no index has the score: it does so in
 * slices.
 *
 * @throws invalid_request on a cursor that no page returned.
 */
export async function browseSubmissions(
  db: Database,
  filter: SubmissionFilter,
  request: PageRequest,
): Promise<SubmissionPage> {
  checkCursor("sub", request.cursor);
  const found = await findCandidates(db, filter, request);
  const count = fitting(found, request);
  const data = await db.read(() => readSubmissions(found.slice(0, count).map(({ id }) => id)));
  const last = found[count - 1]?.id ?? null;
  return { data, nextCursor: found.length > count ? last : null };
}

/** Up to one more than the limit: the additional one shows that another page follows. */
async function findCandidates(
  db: Database,
  filter: SubmissionFilter,
  { limit, cursor }: PageRequest,
): Promise<Candidate[]> {
  const sliceRows = filter.spamClass === null ? limit + 1 : Math.max(SLICE_ROWS, limit + 1);
  const found: Candidate[] = [];
  let before = cursor;
  for (;;) {
    const from = before;
    const slice = await readInTurn(db, () => listCandidates(filter, from, sliceRows));
    found.push(...slice.filter(({ spamScore }) => isOfClass(spamScore, filter.spamClass)));
    if (found.length > limit || slice.length < sliceRows) return found.slice(0, limit + 1);
    before = slice.at(-1)?.id ?? null;
  }
}

/** How many of the submissions make a page. */
function fitting(found: readonly Candidate[], { limit, maxBytes }: PageRequest): number {
  let bytes = 0;
  const tooFar = found.findIndex((each, index) => (bytes += each.bytes) > maxBytes && index > 0);
  return Math.min(limit, tooFar < 0 ? found.length : tooFar);
}
