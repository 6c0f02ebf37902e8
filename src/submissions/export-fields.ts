import type { Database } from "../database/database.ts";
import { readInTurn } from "../database/read-in-turn.ts";
import { checkCursor } from "../foundation/id.ts";
import { listDeclaredFields } from "../endpoints/endpoint-store.ts";
import type { CsvFields } from "./csv.ts";
import { readSubmissions, type SubmissionFilter } from "./submission-store.ts";
import type { Submission } from "./submission.ts";
import { walkSubmissions } from "./walk-submissions.ts";

/** Submissions read at once; this bounds the memory of an export and how long it delays other work. */
const SLICE_ROWS = 100;
/**
 * Undeclared fields with a column of their own: the ones that most submissions have. One stranger's post may have thousands, so
 * all further ones share one column.
 */
const MAX_UNDECLARED_FIELDS = 1000;
/** Most names that are counted at once. If there are more, the ones seen least are dropped. */
const MAX_COUNTED_FIELDS = 10 * MAX_UNDECLARED_FIELDS;

/** The submissions of a filter, oldest first. @throws invalid_request on a malformed cursor. */
export async function* readSlices(
  db: Database,
  filter: SubmissionFilter,
  cursor: string | null,
): AsyncGenerator<readonly Submission[]> {
  checkCursor("sub", cursor);
  const walk = walkSubmissions(db, { filter, direction: "newer", cursor, wanted: Infinity });
  for await (const { ids } of walk) {
    for (let from = 0; from < ids.length; from += SLICE_ROWS) {
      const slice = ids.slice(from, from + SLICE_ROWS);
      yield await readInTurn(db, () => readSubmissions(slice));
    }
  }
}

/**
 * The current schema's fields in its order, then those of earlier versions, then, sorted, those that submissions have
 * beyond their schemas; endpoint by endpoint.
 */
export async function collectFields(db: Database, filter: SubmissionFilter): Promise<CsvFields> {
  const declared = await db.read(() => listDeclaredFields(filter.endpointIds));
  const { names, hasMore, hasSetAside } = await undeclaredFields(db, filter, declared);
  return {
    names: new Set([...declared, ...names.slice(0, MAX_UNDECLARED_FIELDS).toSorted()]),
    hasRest: hasMore || names.length > MAX_UNDECLARED_FIELDS,
    hasSetAside,
  };
}

/** Those that most submissions have first; `hasMore` when there were more names than are counted. */
async function undeclaredFields(
  db: Database,
  filter: SubmissionFilter,
  declared: ReadonlySet<string>,
): Promise<{ names: string[]; hasMore: boolean; hasSetAside: boolean }> {
  const counts = new Map<string, number>();
  let hasMore = false;
  let hasSetAside = false;
  for await (const slice of readSlices(db, filter, null)) {
    hasSetAside ||= slice.some(({ setAside }) => setAside !== null);
    for (const name of slice.flatMap(({ data }) => Object.keys(data))) {
      if (!declared.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (counts.size > MAX_COUNTED_FIELDS) {
      hasMore = true;
      for (const [name] of mostFirst(counts).slice(MAX_UNDECLARED_FIELDS)) counts.delete(name);
    }
  }
  return { names: mostFirst(counts).map(([name]) => name), hasMore, hasSetAside };
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
}
