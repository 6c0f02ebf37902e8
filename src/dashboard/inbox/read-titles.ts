import type { Database } from "../../database/database.ts";
import { fittingOf } from "../../submissions/find/browse-submissions.ts";
import { readSubmissions } from "../../submissions/stored/submission-store.ts";
import { contentOf, titleOf } from "./preview.ts";

/** The largest number of bytes of submissions that are read for their titles. */
const MAX_READ_BYTES = 1_048_576;

/**
 * The titles of submissions, by id. A submission that is gone, or that does not fit into 1 MiB together with those before it, has no title.
 */
export async function readTitles(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const fitting = await fittingOf(db, [...new Set(ids)], MAX_READ_BYTES);
  const submissions = await db.read(() => readSubmissions(fitting));
  return new Map(submissions.map((each) => [each.id, titleOf(contentOf(each))]));
}
