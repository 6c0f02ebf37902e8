import type { Database } from "../../database/database.ts";
import { checkCursor } from "../../foundation/id.ts";
import {
  measureSubmissions,
  readSubmissions,
  type SubmissionFilter,
  type SubmissionPage,
} from "../stored/submission-store.ts";
import { type WalkRequest, walkSubmissions } from "./walk-submissions.ts";

export interface PageRequest {
  readonly limit: number;
  /** A `nextCursor`, or null for the first page. */
  readonly cursor: string | null;
  /** The largest number of bytes of JSON on the page; it still has at least one submission, if there is one. Infinity is no limit. */
  readonly maxBytes: number;
  /** Ends the read, with its reason, when nobody waits for it any more. */
  readonly gone?: AbortSignal;
}

/** Reads one page, newest first. @throws invalid_request on a cursor that no page returned. */
export async function browseSubmissions(
  db: Database,
  filter: SubmissionFilter,
  { limit, cursor, maxBytes, gone }: PageRequest,
): Promise<SubmissionPage> {
  // One more than the limit shows that another page follows.
  const request = { filter, direction: "older", cursor, wanted: limit + 1, ...(gone && { gone }) } as const;
  const { ids } = await findSubmissions(db, request, Infinity);
  const fitting = await fittingOf(db, ids.slice(0, limit), maxBytes, gone);
  const data = await db.read(() => readSubmissions(fitting), gone);
  return { data, nextCursor: ids.length > fitting.length ? (fitting.at(-1) ?? null) : null };
}

export interface Found {
  /** At most the wanted number of submissions, in the order of the walk. */
  readonly ids: readonly string[];
  /** The cursor to go on from, if the search stopped early at its limit; null if it found enough or reached the end. */
  readonly stoppedAt: string | null;
}

/**
 * Finds the next submissions of a filter.
 *
 * @param maxLooked stops the search after it has looked at about this many submissions. Then it may find fewer than exist.
 * @throws invalid_request on a malformed cursor.
 */
export async function findSubmissions(db: Database, request: WalkRequest, maxLooked: number): Promise<Found> {
  checkCursor("sub", request.cursor);
  const found: string[] = [];
  for await (const { ids, looked, position } of walkSubmissions(db, request)) {
    found.push(...ids);
    if (found.length >= request.wanted) break;
    if (looked >= maxLooked) return { ids: found, stoppedAt: position };
  }
  return { ids: found.slice(0, request.wanted), stoppedAt: null };
}

/** Returns the first of these ids, as many as fit into `maxBytes` together, and at least one. */
export async function fittingOf(
  db: Database,
  ids: readonly string[],
  maxBytes: number,
  gone?: AbortSignal,
): Promise<readonly string[]> {
  if (maxBytes === Infinity || ids.length === 0) return ids;
  const sizes = await db.read(() => measureSubmissions(ids), gone);
  let bytes = 0;
  const tooFar = ids.findIndex((id, index) => (bytes += sizes.get(id) ?? 0) > maxBytes && index > 0);
  return tooFar < 0 ? ids : ids.slice(0, tooFar);
}
