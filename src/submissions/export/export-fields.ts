import type { Database } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import { checkCursor } from "../../foundation/id.ts";
import { listSchemaVersions, type SchemaVersion } from "../../endpoints/endpoint-store.ts";
import type { ExportFields } from "./export-columns.ts";
import { fittingOf } from "../find/browse-submissions.ts";
import { readSubmissions } from "../stored/submission-store.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";
import { type WalkRequest, walkSubmissions } from "../find/walk-submissions.ts";

/**
 * The largest number of submissions read at once, and of their bytes as JSON. They bound the memory of an export and how long it delays
 * other work.
 */
const SLICE_ROWS = 100;
const SLICE_BYTES = 262_144;
/** The largest number of cells in a slice of a table: a few milliseconds of work. */
const SLICE_CELLS = 50_000;
/** The number of versions of schemas that are read at once; each has up to 64 KiB. */
const SLICE_SCHEMAS = 8;
/**
 * The largest number of declared fields with a column of their own: an endpoint may have 100 versions with 200 fields each. All others
 * share one column, unless they are among the undeclared ones that most submissions have.
 */
const MAX_DECLARED_FIELDS = 4000;
/**
 * The largest number of undeclared fields with a column of their own; the fields that most submissions have come first. One stranger's post
 * may have thousands of fields, so all others share one column.
 */
const MAX_UNDECLARED_FIELDS = 1000;
/** The largest number of names that are counted at once. If there are more, the ones seen least are dropped. */
const MAX_COUNTED_FIELDS = 10 * MAX_UNDECLARED_FIELDS;

export type ReadRequest = Pick<WalkRequest, "filter" | "cursor" | "gone">;

/**
 * Reads the submissions of a filter, oldest first, in slices.
 *
 * @param columns the number of columns of the table that they are written to; 0 if they are written to none. @throws invalid_request on a
 * malformed cursor; the reason of `gone`.
 */
export async function* readSlices(
  db: Database,
  request: ReadRequest,
  columns = 0,
): AsyncGenerator<readonly StoredSubmission[]> {
  checkCursor("sub", request.cursor);
  const rows = Math.max(1, Math.min(SLICE_ROWS, Math.floor(SLICE_CELLS / columns)));
  const walk = walkSubmissions(db, { ...request, direction: "newer", wanted: Infinity });
  for await (const { ids } of walk) {
    let rest = ids;
    while (rest.length > 0) {
      const slice = await fittingOf(db, rest.slice(0, rows), SLICE_BYTES, request.gone);
      yield await readSlice(db, () => readSubmissions(slice), request.gone);
      rest = rest.slice(slice.length);
    }
  }
}

/** The fields of a table, and the submissions that they were collected from. */
export interface CollectedFields extends ExportFields {
  /** The newest submission that was there; null if none was. */
  readonly newestId: string | null;
}

/**
 * Collects the names of fields in the order of their columns: endpoint by endpoint, the fields of the current schema and then of earlier
 * versions; last, the fields that no schema declares, sorted by name.
 */
export async function collectFields(
  db: Database,
  { filter, gone }: Omit<ReadRequest, "cursor">,
): Promise<CollectedFields> {
  const declared = await declaredFields(db, { filter, ...(gone && { gone }) });
  const { names, hasMore, hasSetAside, newestId } = await undeclaredFields(
    db,
    { filter, cursor: null, ...(gone && { gone }) },
    declared,
  );
  return {
    labels: new Map([...declared].flatMap(([name, label]) => (label === null ? [] : [[name, label]]))),
    names: new Set([...declared.keys(), ...names.slice(0, MAX_UNDECLARED_FIELDS).toSorted()]),
    hasRest: hasMore || names.length > MAX_UNDECLARED_FIELDS,
    hasSetAside,
    newestId,
  };
}

/**
 * The label of each field that a schema declares, null if it has none, in the order of the columns. The newest version that has a field
 * decides.
 */
async function declaredFields(
  db: Database,
  { filter: { endpointIds }, gone }: Omit<ReadRequest, "cursor">,
): Promise<ReadonlyMap<string, string | null>> {
  const labels = new Map<string, string | null>();
  let last: SchemaVersion | null = null;
  while (labels.size < MAX_DECLARED_FIELDS) {
    const after = last;
    const next = (): Steps<SchemaVersion[]> => listSchemaVersions(endpointIds, after, SLICE_SCHEMAS);
    const page: readonly SchemaVersion[] = await readSlice(db, next, gone);
    for (const { definition } of page)
      for (const [name, field] of Object.entries(definition))
        if (!labels.has(name) && labels.size < MAX_DECLARED_FIELDS) labels.set(name, field.label ?? null);
    last = page.at(-1) ?? null;
    if (page.length < SLICE_SCHEMAS) break;
  }
  return labels;
}

/**
 * Returns the names of undeclared fields, those that most submissions have first. `hasMore` says if there were more names than are counted.
 */
async function undeclaredFields(
  db: Database,
  request: ReadRequest,
  declared: ReadonlyMap<string, unknown>,
): Promise<{ names: string[]; hasMore: boolean; hasSetAside: boolean; newestId: string | null }> {
  const counts = new Map<string, number>();
  let hasMore = false;
  let hasSetAside = false;
  let newestId: string | null = null;
  for await (const slice of readSlices(db, request)) {
    newestId = slice.at(-1)?.id ?? newestId;
    hasSetAside ||= slice.some(({ setAside }) => setAside !== null);
    for (const name of slice.flatMap(({ data }) => Object.keys(data))) {
      if (!declared.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (counts.size > MAX_COUNTED_FIELDS) {
      hasMore = true;
      for (const [name] of mostFirst(counts).slice(MAX_UNDECLARED_FIELDS)) counts.delete(name);
    }
  }
  return { names: mostFirst(counts).map(([name]) => name), hasMore, hasSetAside, newestId };
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
}
