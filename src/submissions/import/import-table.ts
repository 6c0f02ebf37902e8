import { z } from "zod";
import { yieldToOthers } from "../../database/slices.ts";
import { run, type Steps, text } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { reachEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isId, newId } from "../../foundation/id.ts";
import { createZonedClock } from "../../foundation/zoned-time.ts";
import { changed, type Context, operation, type Outcome } from "../../operations/operation.ts";
import { compileSchema } from "../../schemas/compile-schema.ts";
import { FILTER_VERSION } from "../../spam/score-spam.ts";
import { readTimeZone } from "../../workspaces/workspace-settings.ts";
import { FORMATS, TABLE_FORMATS } from "./import-formats.ts";
import { importBegan } from "./import-record.ts";
import type { ImportParts } from "./imported-file.ts";
import { claimRows, knownRows } from "./imported-rows.ts";
import { type ColumnMap, mapColumns, type MappingRequest, namesOf } from "./map-columns.ts";
import { zoneInHeading } from "./own-time-heading.ts";
import { type ReadRow, readRow, type RefusedRow, type RowReader } from "./read-import-row.ts";
import { RowCounts } from "./row-counts.ts";
import { ADD_IMPORTED_SQL, findEndpointsOf, importedValues } from "../stored/submission-store.ts";
import { openTable, type Table } from "./table-rows.ts";

/** The largest number of submissions in one transaction; a server that writes at the same time waits for it. */
const BATCH_SIZE = 500;
/** The largest length of all cells in one transaction, in UTF-16 units. */
const BATCH_LENGTH = 1_048_576;
/** The largest number of rows of a file. */
const MAX_ROWS = 10_000_000;
/** The largest number of refused rows that are shown. */
const MAX_REFUSED_SHOWN = 1000;
/**
 * The length of text that any row may have, in UTF-16 units, or more if posts may be longer. The patterns of a schema take a tenth of a
 * second for a text of this length.
 */
const LEAST_MAX_LENGTH = 65_536;

/**
 * The whole file is read once before anything is stored, so that a broken file changes nothing. A row that was imported before is skipped,
 * so that an interrupted import can be run again; a row that was deleted since does not come back. Nothing is scored, held, counted or
 * sent.
 */
export const importTable = operation({
  name: "submission.import-table",
  summary:
    "Add the rows of another service's export, or of any table, as submissions; known ones are skipped",
  kind: "write",
  access: "submissions:import",
  input: z.strictObject({
    endpoint: z
      .string()
      .describe("The endpoint that gets the rows: its id, its name if that is unique, or WORKSPACE/NAME."),
    workspace: z.string().nullable().default(null).describe("Id or name of the workspace of that endpoint."),
    format: z.enum(TABLE_FORMATS).describe("The service that wrote the file; csv is for any other table."),
    map: z
      .array(z.string())
      .readonly()
      .default([])
      .describe(
        "The field of each column, as `COLUMN=FIELD`. The field created_at is the time of a row; an empty field leaves the column out.",
      ),
    encoding: z
      .string()
      .nullable()
      .default(null)
      .describe("The character encoding of the file, like windows-1252; null is UTF-8."),
    without_times: z
      .boolean()
      .default(false)
      .describe(
        "Whether rows get the time of the import if no column has their time. Otherwise such a table is refused.",
      ),
    dry_run: z
      .boolean()
      .default(false)
      .describe("Whether nothing is stored, and the answer only says what would be done."),
  }),
  output: z.strictObject({
    rows: z.number(),
    imported: z.number(),
    known: z.number().describe("The number of rows that were imported before; they are skipped."),
    refused: z
      .array(z.strictObject({ line: z.number(), field: z.string().nullable(), message: z.string() }))
      .readonly()
      .describe(
        `The first ${MAX_REFUSED_SHOWN} rows that do not fit the form, each with the first thing that is wrong with it.`,
      ),
    unmapped: z
      .array(z.string())
      .readonly()
      .describe("The columns that belong to no field; they were not imported."),
  }),
  async *run(context: Context<ImportParts>, { dry_run: isDry, without_times: withoutTimes, ...input }) {
    const { format, map, encoding, ...reference } = input;
    const { source } = context.parts;
    const { endpoint, definition, zone } = await context.db.read(() => readTarget(context, reference));
    const asked = { format, definition, map };
    const open = () => openTable(source, { format, encoding });
    const table = await open();
    const columns = mapped(table, source.name, { ...asked, withoutTimes });
    const total = await countRows(table, source.name);
    const schema = compileSchema(definition, "drop");
    const named = format === "csv" ? zoneInHeading(headingOf(table, columns)) : null;
    const clock = createZonedClock(FORMATS[format].isUtc ? "UTC" : (named ?? zone));
    const maxLength = Math.max(LEAST_MAX_LENGTH, context.config.server.bodyLimitBytes);
    const counts = new RowCounts();
    const { isGuarded } = table;
    const reader = { format, columns, schema, clock, now: context.now, counts, maxLength, isGuarded };
    const counted = new RowCounts();
    const tally = { rows: 0, imported: 0, known: 0, refused: [] as RefusedRow[] };
    for await (const batch of batchesOf(reader, (await open()).rows)) {
      tally.rows += batch.rows;
      tally.refused.push(...batch.refused.slice(0, MAX_REFUSED_SHOWN - tally.refused.length));
      await yieldToOthers();
      const isFirst = tally.imported === 0;
      const added = isDry
        ? countFirst(counted, await context.db.read(() => newHashes(endpoint, batch.read)))
        : await context.transact(function* () {
            // Meanwhile the form may have been deleted, or the importer may have left the workspace.
            yield* reachEndpoint(context, { endpoint: endpoint.id });
            return yield* addRows(endpoint, batch.read, isFirst ? `${total} from ${format}` : null);
          });
      tally.imported += added;
      tally.known += batch.read.length - added;
      yield { done: tally.rows, total };
    }
    return { ...tally, unmapped: columns.unmapped };
  },
});

interface Target {
  readonly endpoint: Endpoint;
  readonly definition: Parameters<typeof compileSchema>[0];
  readonly zone: string;
}

function* readTarget(
  context: Context,
  reference: { readonly endpoint: string; readonly workspace: string | null },
): Steps<Target> {
  const endpoint = yield* reachEndpoint(context, reference);
  const zone = (yield* readTimeZone(endpoint.workspaceId)) ?? "UTC";
  return { endpoint, definition: yield* readSchema(endpoint), zone };
}

/** The heading of the column with the times; empty if there is none. */
function headingOf({ headings }: Pick<Table, "headings">, { roles }: ColumnMap): string {
  return headings[roles.get("created_at") ?? -1] ?? "";
}

/** Chooses what becomes of the columns. @throws usage if no row could be imported with them */
function mapped(
  { headings }: Pick<Table, "headings">,
  name: string,
  { withoutTimes, ...asked }: MappingRequest & { readonly withoutTimes: boolean },
): ColumnMap {
  const columns = mapColumns(headings, asked);
  if (columns.fields.length === 0)
    throw new FormsvcError(
      "usage",
      `${name}: no column is named like a field of the form; map them (COLUMN=FIELD); it has ${namesOf(headings)}`,
    );
  if (!columns.roles.has("created_at") && !withoutTimes)
    throw new FormsvcError(
      "usage",
      `${name}: no column has the time of the rows; map it (COLUMN=created_at), or give all of them the time of the import (without times); it has ${namesOf(headings)}`,
    );
  return columns;
}

/** Reads the whole file. @throws usage if the file as a whole is wrong */
async function countRows({ rows }: Pick<Table, "rows">, name: string): Promise<number> {
  let total = 0;
  while ((await rows.next()).done !== true) {
    total += 1;
    if (total % BATCH_SIZE === 0) await yieldToOthers();
    if (total > MAX_ROWS)
      throw new FormsvcError("usage", `${name}: more than ${MAX_ROWS} rows; split the file`);
  }
  return total;
}

interface RowBatch {
  readonly rows: number;
  readonly read: readonly ReadRow[];
  readonly refused: readonly RefusedRow[];
}

async function* batchesOf(
  reader: RowReader,
  rows: Awaited<ReturnType<typeof openTable>>["rows"],
): AsyncGenerator<RowBatch> {
  let [count, length, read, refused]: [number, number, ReadRow[], RefusedRow[]] = [0, 0, [], []];
  for await (const row of rows) {
    const outcome = readRow(reader, row);
    if ("message" in outcome) refused.push(outcome);
    else read.push(outcome);
    count += 1;
    for (const cell of row.cells) length += typeof cell === "string" ? cell.length : 1;
    if (count < BATCH_SIZE && length < BATCH_LENGTH) continue;
    yield { rows: count, read, refused };
    [count, length, read, refused] = [0, 0, [], []];
  }
  if (count > 0) yield { rows: count, read, refused };
}

/** Counts the hashes that were not counted before: two batches may contain the same id of a service. */
function countFirst(counted: RowCounts, hashes: readonly string[]): number {
  return hashes.filter((hash) => counted.add(Buffer.from(hash, "base64url")) === 1).length;
}

function* newHashes(endpoint: Endpoint, rows: readonly ReadRow[]): Steps<readonly string[]> {
  const known = yield* knownRows(
    endpoint.id,
    rows.map(({ hash }) => hash),
  );
  const own = yield* ownIds(endpoint, rows);
  const fresh = rows.filter(({ hash, serviceId }) => !known.has(hash) && !own.has(serviceId));
  return fresh.map(({ hash }) => hash);
}

/** Finds the ids of submissions that the form has: the table may be an export of our own. In another form they get new ids. */
function* ownIds(endpoint: Endpoint, rows: readonly ReadRow[]): Steps<ReadonlySet<string>> {
  const ids = rows.map(({ serviceId }) => serviceId).filter((id) => isId("sub", id));
  if (ids.length === 0) return new Set();
  const stored = yield* findEndpointsOf(ids);
  return new Set(ids.filter((id) => stored.get(id) === endpoint.id));
}

/** Adds rows. @param began the text to record with the first row that is added; null if it is recorded already. */
function* addRows(
  endpoint: Endpoint,
  rows: readonly ReadRow[],
  began: string | null,
): Steps<Outcome<number>> {
  const own = yield* ownIds(endpoint, rows);
  const foreign = rows.filter(({ serviceId }) => !own.has(serviceId));
  const fresh = new Set(yield* claimRows(endpoint.id, [...new Set(foreign.map(({ hash }) => hash))]));
  let added = 0;
  for (const { hash, format, createdAt, data, setAside, ipAddress, userAgent } of foreign) {
    // Rows with the same id of the service are one row.
    if (!fresh.delete(hash)) continue;
    const submission = {
      id: newId("sub", createdAt),
      endpointId: endpoint.id,
      schemaVersion: endpoint.schemaVersion,
      data,
      setAside,
      spamScore: 0,
      spamClass: "low",
      spamReasons: [],
      spamVersion: FILTER_VERSION,
      ipAddress,
      userAgent,
      createdAt,
      importedFrom: format,
    } as const;
    yield* run(text(ADD_IMPORTED_SQL, ...importedValues(submission)));
    added += 1;
  }
  if (added === 0 || began === null) return changed(added);
  return changed(added, { ...importBegan(endpoint, began), action: "submission.import" });
}
