import { z } from "zod";
import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import { listFileIdsOf } from "../../files/file-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { checkCursor } from "../../foundation/id.ts";
import { jsonText } from "../../foundation/plain-text.ts";
import { type Context, operation } from "../../operations/operation.ts";
import {
  eachInSearchSlot,
  readSubmissionFilter,
  type SearchParts,
  searchInput,
  submissionsInput,
} from "../find/choose-submissions.ts";
import { type Conceal, concealReasons } from "../stored/conceal-reasons.ts";
import { CSV_SEPARATORS, csvHeader, csvRow, type CsvSeparator } from "./csv.ts";
import { COLUMN_ORDERS, type Column, columnsOf, haveAll, type Look } from "./export-columns.ts";
import { type CollectedFields, collectFields, readSlices } from "./export-fields.ts";
import { type AskedLook, readLook } from "./export-look.ts";
import { submissionJson } from "../stored/submission-json.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";
import type { SubmissionFilter } from "../stored/submission-store.ts";
import { MAX_SHEET_COLUMNS, xlsxParts } from "./xlsx.ts";

export const EXPORT_FORMATS = ["csv", "xlsx", "ndjson", "json"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The media type of each format. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ndjson: "application/x-ndjson",
  json: "application/json; charset=utf-8",
};

export const exportSubmissions = operation({
  name: "submission.export",
  summary: "Give submissions, oldest first, as CSV, as a spreadsheet, as JSON lines or as one JSON array",
  kind: "stream",
  access: "submissions:export",
  input: z.strictObject({
    ...submissionsInput,
    ...searchInput,
    format: z.enum(EXPORT_FORMATS).default("csv"),
    columns: z
      .enum(COLUMN_ORDERS)
      .nullable()
      .default(null)
      .describe(
        "The order of the columns of CSV: `technical` (also if null) has ids first and times in UTC; `people` has the time, the form and the fields first. xlsx always has `people`.",
      ),
    labels: z
      .boolean()
      .default(false)
      .describe(
        "Whether the columns of CSV are headed by the labels of the fields and not by their names. With `people` and in xlsx they always are.",
      ),
    time_zone: z
      .string()
      .nullable()
      .default(null)
      .describe(
        "The time zone of times in CSV and xlsx, like Europe/Berlin. Null is the zone of the workspace, if the columns are for people and all come from one workspace; else UTC.",
      ),
    separator: z
      .enum(CSV_SEPARATORS)
      .nullable()
      .default(null)
      .describe("The character between two cells of CSV; null is a comma."),
    limit: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe("The largest number of submissions; null is all."),
    cursor: z
      .string()
      .nullable()
      .default(null)
      .describe("Only submissions after the one with this id, like the last one that was exported."),
    files: z
      .boolean()
      .default(false)
      .describe(
        "Whether each part also lists the ids of the files of its submissions. Only for callers that read the parts, not the text alone.",
      ),
  }),
  output: z.strictObject({
    text: z.string().describe("The text of this part: it follows the text of the part before."),
    base64: z
      .string()
      .optional()
      .describe(
        "For xlsx, instead of the text: the bytes of this part in base64. They follow the bytes of the part before.",
      ),
    count: z.number().describe("The number of submissions in all parts so far."),
    files: z
      .array(z.string())
      .readonly()
      .optional()
      .describe(
        "The ids of the files, if they were asked for. Those of one submission follow each other, and each id is in one part only.",
      ),
  }),
  async run(context: Context<SearchParts>, { format, separator, columns, labels, time_zone, ...rest }) {
    const { limit, cursor, files, ...input } = rest;
    const asked = { format, separator, columns, labels, timeZone: time_zone };
    checkAsked(asked);
    checkCursor("sub", cursor);
    const { db, gone } = context;
    const filter = await db.read(() => readSubmissionFilter(context, input));
    const look = await db.read(() => readLook(context, filter, asked));
    const conceal = await db.read(() => concealReasons(context.viewing));
    const readFilter = (): Steps<SubmissionFilter> => readSubmissionFilter(context, input);
    const how = { look, conceal, readFilter, format, separator: separator ?? ",", limit, cursor } as const;
    const found = files ? new FoundFiles(db) : null;
    const request = { filter, ...how, found, ...(gone && { gone }) };
    const parts = writeExport(db, request);
    return eachInSearchSlot(context, filter, found === null ? parts : found.withFiles(parts));
  },
});

interface Asked extends AskedLook {
  readonly format: ExportFormat;
  readonly separator: CsvSeparator | null;
}

/** @throws usage */
function checkAsked({ format, separator, columns, labels, timeZone }: Asked): void {
  if (separator !== null && format !== "csv")
    throw new FormsvcError("usage", `a separator is for csv, and the format is ${format}`);
  if (format === "xlsx" && columns === "technical")
    throw new FormsvcError(
      "usage",
      "xlsx has its columns in the order for people; only csv has technical ones",
    );
  if (format !== "ndjson" && format !== "json") return;
  const given = [columns !== null && "columns", labels && "labels", timeZone !== null && "a time zone"];
  const what = given.find((each) => each !== false);
  if (what !== undefined)
    throw new FormsvcError("usage", `${what} can be chosen for csv and xlsx, and the format is ${format}`);
}

interface ExportRequest {
  readonly filter: SubmissionFilter;
  /** Called again for each part: a submission that the caller may not see any more is left out from then on. */
  readonly readFilter: () => Steps<SubmissionFilter>;
  readonly conceal: Conceal;
  readonly format: ExportFormat;
  /** The look of a table; JSON ignores it. */
  readonly look: Look;
  /** The separator of a CSV. */
  readonly separator: CsvSeparator;
  /** The largest number of submissions; null is all. */
  readonly limit: number | null;
  /** Exports only submissions after this id; null begins with the oldest. */
  readonly cursor: string | null;
  /** Collects the files of exported submissions; null if nobody asked for files. */
  readonly found: FoundFiles | null;
  /** Ends the export, with its reason, when nobody waits for it any more. */
  readonly gone?: AbortSignal;
}

interface ExportPart {
  readonly text: string;
  readonly base64?: string | undefined;
  /** The number of submissions exported so far. */
  readonly count: number;
  readonly files?: readonly string[] | undefined;
}

/** Collects the ids of files of exported submissions, until a part of the export names them. */
class FoundFiles {
  readonly #db: Database;
  #ids: string[] = [];

  constructor(db: Database) {
    this.#db = db;
  }

  async look(page: readonly StoredSubmission[]): Promise<void> {
    const ids = page.map(({ id }) => id);
    this.#ids.push(...(await this.#db.read(() => listFileIdsOf(ids))));
  }

  async *withFiles(parts: AsyncGenerator<ExportPart>): AsyncGenerator<ExportPart> {
    let count = 0;
    for await (const part of parts) {
      count = part.count;
      yield { ...part, files: this.#take() };
    }
    if (this.#ids.length > 0) yield { text: "", count, files: this.#take() };
  }

  #take(): readonly string[] {
    const ids = this.#ids;
    this.#ids = [];
    return ids;
  }
}

/** The content that a part adds to the file. */
export function partContent({ text, base64 }: Pick<ExportPart, "text" | "base64">): string | Buffer {
  return base64 === undefined ? text : Buffer.from(base64, "base64");
}

function toJson(submission: StoredSubmission, conceal: Conceal): string {
  return jsonText(submissionJson(conceal(submission)));
}

/**
 * The submissions, oldest first, in parts. Each part is read in a transaction of its own, so that a long export delays no
 * checkpoint. Submissions that come meanwhile may be left out; a table leaves them all out, because its columns are chosen before.
 *
 * @throws invalid_request on a malformed cursor; the reason of `gone`.
 */
function writeExport(db: Database, request: ExportRequest): AsyncGenerator<ExportPart> {
  if (request.format === "xlsx") return writeBook(db, request);
  return request.format === "csv" ? writeTable(db, request) : writeJson(db, request);
}

async function* writeJson(db: Database, request: ExportRequest): AsyncGenerator<ExportPart> {
  const isArray = request.format === "json";
  let count = 0;
  for await (const page of readPages(db, request)) {
    const texts = page.map((submission, index) => {
      const text = toJson(submission, request.conceal);
      return isArray ? `${count + index === 0 ? "[\n" : ",\n"}${text}` : `${text}\n`;
    });
    count += page.length;
    yield { text: texts.join(""), count };
  }
  if (isArray) yield { text: count === 0 ? "[]\n" : "\n]\n", count };
}

async function* writeTable(db: Database, request: ExportRequest): AsyncGenerator<ExportPart> {
  const { look, separator } = request;
  const fields = await collectFields(db, request);
  const columns = columnsOf(fields, look);
  const style = { ...look, separator };
  let count = 0;
  yield { text: csvHeader(columns, style), count };
  for await (const page of readPages(db, request, { fields, columns: columns.length })) {
    count += page.length;
    yield { text: page.map((submission) => csvRow(submission, columns, style)).join(""), count };
  }
}

/** The largest number of fields with a column of their own in a sheet; all others share one column. */
const MAX_BOOK_FIELDS = MAX_SHEET_COLUMNS - 16;

async function* writeBook(db: Database, request: ExportRequest): AsyncGenerator<ExportPart> {
  const all = await collectFields(db, request);
  const names = new Set([...all.names].slice(0, MAX_BOOK_FIELDS));
  const fields = { ...all, names, hasRest: all.hasRest || names.size < all.names.size };
  const columns: readonly Column[] = columnsOf(fields, request.look);
  let count = 0;
  async function* rows(): AsyncGenerator<StoredSubmission> {
    for await (const page of readPages(db, request, { fields, columns: columns.length })) {
      for (const submission of page) {
        count += 1;
        yield submission;
      }
    }
  }
  for await (const bytes of xlsxParts({ columns, clock: request.look.clock, rows: rows() }))
    if (bytes.length > 0) yield { text: "", base64: bytes.toString("base64"), count };
}

/** The table that submissions are written to. */
interface Table {
  readonly fields: CollectedFields;
  /** See {@link readSlices}. */
  readonly columns: number;
}

/** @param table null if they are written to none: only a table leaves out what came since its fields were collected */
async function* readPages(
  db: Database,
  request: ExportRequest,
  table: Table | null = null,
): AsyncGenerator<readonly StoredSubmission[]> {
  let left = request.limit ?? Infinity;
  for await (const slice of readSlices(db, request, table?.columns ?? 0)) {
    const { endpointIds } = await db.read(request.readFilter);
    const seen = endpointIds === null ? slice : slice.filter((each) => endpointIds.includes(each.endpointId));
    const there = table === null ? seen : seen.filter((each) => wasThere(table.fields, each));
    const page = there.slice(0, left);
    await request.found?.look(page);
    yield page;
    left -= page.length;
    if (left === 0 || isLater(table, slice.at(-1))) return;
  }
}

/**
 * Whether a submission was there when the fields were collected, as far as it matters. One that is imported or released meanwhile has an
 * older id; it is left out only if a column for something in it is missing.
 */
function wasThere(fields: CollectedFields, submission: StoredSubmission): boolean {
  return fields.newestId !== null && submission.id <= fields.newestId && haveAll(fields, submission);
}

/** Whether a submission, and all that follow, came after the fields of the table were collected. */
function isLater(table: Table | null, last: StoredSubmission | undefined): boolean {
  return table !== null && last !== undefined && last.id > (table.fields.newestId ?? "");
}
