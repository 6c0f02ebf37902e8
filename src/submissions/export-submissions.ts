import { z } from "zod";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { jsonText } from "../foundation/plain-text.ts";
import { type Context, operation } from "../operations/operation.ts";
import {
  eachInSearchPlace,
  readSubmissionFilter,
  type SearchParts,
  searchInput,
  submissionsInput,
} from "./choose-submissions.ts";
import { type Conceal, concealReasons } from "./conceal-reasons.ts";
import { CSV_SEPARATORS, type CsvFields, csvHeader, csvRow, type CsvSeparator } from "./csv.ts";
import { collectFields, readSlices } from "./export-fields.ts";
import { submissionJson } from "./submission-json.ts";
import type { StoredSubmission } from "./submission-work.ts";
import type { SubmissionFilter } from "./submission-store.ts";

const formats = z.enum(["csv", "ndjson", "json"]);

export type ExportFormat = z.output<typeof formats>;

export const exportSubmissions = operation({
  name: "submission.export",
  summary: "Give submissions, oldest first, as CSV, as JSON lines or as one JSON array",
  kind: "stream",
  access: "submissions:export",
  input: z.strictObject({
    ...submissionsInput,
    ...searchInput,
    format: formats.default("csv"),
    separator: z
      .enum(CSV_SEPARATORS)
      .nullable()
      .default(null)
      .describe("Between two cells of CSV; null is a comma."),
    limit: z.int().min(1).nullable().default(null).describe("How many at most; null is all."),
    cursor: z
      .string()
      .nullable()
      .default(null)
      .describe("Only what comes after this id, like the last one exported."),
  }),
  output: z.strictObject({
    text: z.string().describe("Follows the text of the part before."),
    count: z.number().describe("Submissions so far."),
  }),
  async run(context: Context<SearchParts>, { format, separator, limit, cursor, ...input }) {
    if (separator !== null && format !== "csv")
      throw new FormsvcError("usage", `a separator is for csv, and the format is ${format}`);
    const { db, gone } = context;
    const filter = await db.read(() => readSubmissionFilter(context, input));
    const conceal = await db.read(() => concealReasons(context.viewing));
    const readFilter = (): Steps<SubmissionFilter> => readSubmissionFilter(context, input);
    const how = { conceal, readFilter, format, separator: separator ?? ",", limit, cursor } as const;
    const request = { filter, ...how, ...(gone && { gone }) };
    return eachInSearchPlace(context, filter, writeExport(db, request));
  },
});

export interface ExportRequest {
  readonly filter: SubmissionFilter;
  /** Asked again for each part: of what is not visible any more nothing else goes out. */
  readonly readFilter: () => Steps<SubmissionFilter>;
  readonly conceal: Conceal;
  readonly format: ExportFormat;
  /** Of CSV. */
  readonly separator: CsvSeparator;
  /** The largest number of submissions; null is all. */
  readonly limit: number | null;
  /** Only submissions after this id; null begins with the oldest. */
  readonly cursor: string | null;
  /** Ends the export, with its reason, when nobody waits for it any more. */
  readonly gone?: AbortSignal;
}

interface ExportPart {
  readonly text: string;
  /** Submissions so far. */
  readonly count: number;
}

function toJson(submission: StoredSubmission, conceal: Conceal): string {
  return jsonText(submissionJson(conceal(submission)));
}

/**
 * The submissions, oldest first, in parts. Each part is read in a transaction of its own, so that a long export delays no
 * checkpoint. Submissions that come meanwhile may be left out.
 *
 * @throws invalid_request on a malformed cursor; the reason of `gone`.
 */
async function* writeExport(db: Database, request: ExportRequest): AsyncGenerator<ExportPart> {
  const { format, separator } = request;
  const fields = format === "csv" ? await collectFields(db, request) : NO_FIELDS;
  let count = 0;
  if (format === "csv") yield { text: csvHeader(fields, separator), count };
  for await (const page of readPages(db, request)) {
    const texts = page.map((submission, index) => {
      if (format === "csv") return csvRow(submission, fields, separator);
      if (format === "ndjson") return `${toJson(submission, request.conceal)}\n`;
      return `${count + index === 0 ? "[\n" : ",\n"}${toJson(submission, request.conceal)}`;
    });
    count += page.length;
    yield { text: texts.join(""), count };
  }
  if (format === "json") yield { text: count === 0 ? "[]\n" : "\n]\n", count };
}

const NO_FIELDS: CsvFields = { names: new Set(), hasRest: false, hasSetAside: false };

async function* readPages(db: Database, request: ExportRequest): AsyncGenerator<readonly StoredSubmission[]> {
  let left = request.limit ?? Infinity;
  for await (const slice of readSlices(db, request)) {
    const { endpointIds } = await db.read(request.readFilter);
    const seen = endpointIds === null ? slice : slice.filter((each) => endpointIds.includes(each.endpointId));
    const page = seen.slice(0, left);
    yield page;
    left -= page.length;
    if (left === 0) return;
  }
}
