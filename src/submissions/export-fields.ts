import type { Database } from "../database/database.ts";
import { readInTurn } from "../database/read-in-turn.ts";
import { listDeclaredFields } from "../endpoints/endpoint-store.ts";
import type { CsvFields } from "./csv.ts";
import { isOfClass, readOldestFirst, type SubmissionFilter } from "./submission-store.ts";
import type { Submission } from "./submission.ts";

/** Submissions read at once; this bounds the memory of an export and how long it delays other work. */
const SLICE_ROWS = 500;
/**
 * Undeclared fields with a column of their own: the ones that most submissions have. One stranger's post may have thousands, so
 * all further ones share one column.
 */
const MAX_UNDECLARED_FIELDS = 1000;
/** Most names that are counted at once. If there are more, the ones seen least are dropped. */
const MAX_COUNTED_FIELDS = 10 * MAX_UNDECLARED_FIELDS;

/** All of an endpoint's or every endpoint's submissions, of every class, oldest first. @throws invalid_request */
export async function* readSlices(
  db: Database,
  filter: SubmissionFilter,
  cursor: string | null,
): AsyncGenerator<readonly Submission[]> {
  let after = cursor;
  for (;;) {
    const last = after;
    const slice = await readInTurn(db, () => readOldestFirst(filter, last, SLICE_ROWS));
    if (slice.length > 0) yield slice;
    if (slice.length < SLICE_ROWS) return;
    after = slice.at(-1)?.id ?? null;
  }
}

/**
 * The current schema's fields in its order, then those of earlier versions, then, sorted, those that submissions have
 * beyond their schemas; endpoint by endpoint.
 */
export async function collectFields(db: Database, filter: SubmissionFilter): Promise<CsvFields> {
  const declared = await db.read(() => listDeclaredFields(filter.endpointId));
  const { names, hasMore } = await undeclaredFields(db, filter, declared);
  return {
    names: new Set([...declared, ...names.slice(0, MAX_UNDECLARED_FIELDS).toSorted()]),
    hasRest: hasMore || names.length > MAX_UNDECLARED_FIELDS,
  };
}

/** Those that most submissions have first; `hasMore` when there were more names than are counted. */
async function undeclaredFields(
  db: Database,
  filter: SubmissionFilter,
  declared: ReadonlySet<string>,
): Promise<{ names: string[]; hasMore: boolean }> {
  const counts = new Map<string, number>();
  let hasMore = false;
  for await (const slice of readSlices(db, filter, null)) {
    const meant = slice.filter(({ spamScore }) => isOfClass(spamScore, filter.spamClass));
    for (const name of meant.flatMap(({ data }) => Object.keys(data))) {
      if (!declared.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (counts.size > MAX_COUNTED_FIELDS) {
      hasMore = true;
      for (const [name] of mostFirst(counts).slice(MAX_UNDECLARED_FIELDS)) counts.delete(name);
    }
  }
  return { names: mostFirst(counts).map(([name]) => name), hasMore };
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
}
