import type { Database } from "../database/database.ts";
import { type CsvFields, csvHeader, csvRow } from "./csv.ts";
import { collectFields, readSlices } from "./export-fields.ts";
import type { Submission } from "./submission.ts";
import type { SubmissionFilter } from "./submission-store.ts";

export type ExportFormat = "csv" | "ndjson" | "json";

export interface ExportRequest {
  readonly filter: SubmissionFilter;
  readonly format: ExportFormat;
  /** The largest number of submissions; null is all. */
  readonly limit: number | null;
  /** Only submissions after this id; null begins with the oldest. */
  readonly cursor: string | null;
  /** Renders a submission as JSON. */
  readonly toJson: (submission: Submission) => string;
  /** Ends the export, with its reason, when nobody waits for it any more. */
  readonly gone?: AbortSignal;
}

export interface ExportPart {
  readonly text: string;
  /** Submissions so far. */
  readonly count: number;
}

/**
 * The submissions, oldest first, in parts. Each part is read in a transaction of its own, so that a long export delays no
 * checkpoint. Submissions that come meanwhile may be left out.
 *
 * @throws invalid_request on a malformed cursor; the reason of `gone`.
 */
export async function* exportSubmissions(db: Database, request: ExportRequest): AsyncGenerator<ExportPart> {
  const { format, toJson } = request;
  const fields = format === "csv" ? await collectFields(db, request) : NO_FIELDS;
  let count = 0;
  if (format === "csv") yield { text: csvHeader(fields), count };
  for await (const page of readPages(db, request)) {
    const texts = page.map((submission, index) => {
      if (format === "csv") return csvRow(submission, fields);
      if (format === "ndjson") return `${toJson(submission)}\n`;
      return `${count + index === 0 ? "[\n" : ",\n"}${toJson(submission)}`;
    });
    count += page.length;
    yield { text: texts.join(""), count };
  }
  if (format === "json") yield { text: count === 0 ? "[]\n" : "\n]\n", count };
}

const NO_FIELDS: CsvFields = { names: new Set(), hasRest: false, hasSetAside: false };

async function* readPages(db: Database, request: ExportRequest): AsyncGenerator<readonly Submission[]> {
  let left = request.limit ?? Infinity;
  for await (const slice of readSlices(db, request)) {
    const page = slice.slice(0, left);
    yield page;
    left -= page.length;
    if (left === 0) return;
  }
}
