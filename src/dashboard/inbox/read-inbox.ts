import { type EndpointInWorkspace, readEndpointNames } from "../../endpoints/viewable-endpoints.ts";
import { listMarks, type Mark } from "../../history/teach.ts";
import { MAX_PAGE_BYTES } from "../../operations/list-page.ts";
import type { Viewer } from "../../sessions/session.ts";
import { findSubmissions, fittingOf } from "../../submissions/find/browse-submissions.ts";
import { listRead } from "../../submissions/stored/read-marks.ts";
import {
  readsEach,
  readSubmissions,
  type SubmissionFilter,
} from "../../submissions/stored/submission-store.ts";
import type { StoredSubmission } from "../../submissions/stored/submission-work.ts";
import type { WalkRequest } from "../../submissions/find/walk-submissions.ts";
import type { DashboardParts } from "../parts.ts";
import type { Visit } from "../routes.ts";

/** The number of rows on one page. */
export const PAGE_ROWS = 50;
/**
 * The largest number of submissions that a page searches for a filter that no index answers, so that it comes at once. Each costs about two
 * microseconds. A viewer who goes on from there waits for more of them.
 */
const MAX_LOOKED = 7500;
const MAX_LOOKED_FURTHER = 100_000;

/** The position of a page: the id of the submission that its rows come before, or after. The other member is empty. */
export interface PagePosition {
  readonly before: string;
  readonly after: string;
}

export interface InboxRow {
  readonly submission: StoredSubmission;
  readonly endpoint: EndpointInWorkspace | undefined;
  readonly isRead: boolean;
  readonly mark: Mark | null;
}

export interface InboxPage {
  /** Newest first. */
  readonly rows: readonly InboxRow[];
  /** The cursor of the page with newer rows, and below of that with older rows; null if there is no such page. */
  readonly newer: string | null;
  readonly older: string | null;
  /** The submission at which the search stopped before the page was full; null if it reached the end or filled the page. */
  readonly stoppedAt: string | null;
}

/** Reads one page of the inbox; null if there is nothing newer, so that the first page is to be shown. */
export function readInbox(
  { db, searches }: DashboardParts,
  { viewer, gone }: Pick<Visit, "viewer" | "gone">,
  filter: SubmissionFilter,
  position: PagePosition,
): Promise<InboxPage | null> {
  const find = () => findPage(db, viewer, { filter, gone }, position);
  return readsEach(filter) ? searches.run({ name: viewer.accountId, gone }, find) : find();
}

async function findPage(
  db: DashboardParts["db"],
  viewer: Viewer,
  sought: Pick<WalkRequest, "filter" | "gone">,
  { before, after }: PagePosition,
): Promise<InboxPage | null> {
  const isNewer = after !== "";
  const cursor = isNewer ? after : before === "" ? null : before;
  const request = {
    ...sought,
    direction: isNewer ? "newer" : "older",
    cursor,
    wanted: PAGE_ROWS + 1,
  } as const;
  const maxLooked = cursor === null ? MAX_LOOKED : MAX_LOOKED_FURTHER;
  const { ids, stoppedAt } = await findSubmissions(db, request, maxLooked);
  const shown = await fittingOf(db, ids.slice(0, PAGE_ROWS), MAX_PAGE_BYTES, sought.gone);
  const hasMore = ids.length > shown.length;
  if (isNewer && !hasMore) return null;
  const rows = await readRows({ db }, viewer, isNewer ? shown.toReversed() : shown);
  const [newest = null, oldest = null] = [rows[0]?.submission.id, rows.at(-1)?.submission.id];
  return {
    rows,
    newer: cursor === null ? null : newest,
    older: isNewer || hasMore ? oldest : null,
    stoppedAt: hasMore ? null : stoppedAt,
  };
}

async function readRows(
  { db }: Pick<DashboardParts, "db">,
  { accountId }: Viewer,
  ids: readonly string[],
): Promise<InboxRow[]> {
  return db.read(function* () {
    const submissions = yield* readSubmissions(ids);
    const read = yield* listRead(accountId, ids);
    const marks = yield* listMarks(ids);
    const endpoints = yield* readEndpointNames([...new Set(submissions.map(({ endpointId }) => endpointId))]);
    return submissions.map((submission) => ({
      submission,
      endpoint: endpoints.get(submission.endpointId),
      isRead: read.has(submission.id),
      mark: marks.get(submission.id) ?? null,
    }));
  });
}
