import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { csvHeader, csvRow } from "./csv.ts";
import { numberOfEndpoint } from "./endpoint-number.ts";
import type { Submission } from "./submission.ts";
import { readOldestFirst, type SubmissionFilter } from "./submission-store.ts";

export type ExportFormat = "csv" | "ndjson" | "json";

export interface ExportRequest {
  readonly filter: SubmissionFilter;
  readonly format: ExportFormat;
  /** Most submissions; null is all. */
  readonly limit: number | null;
  /** Only what comes after this id; null begins with the oldest. */
  readonly cursor: string | null;
  /** How a submission looks in JSON. */
  readonly toJson: (submission: Submission) => string;
}

export interface ExportPart {
  readonly text: string;
  /** Submissions so far. */
  readonly count: number;
}

/** Submissions read at once: what an export needs of memory, and the length of one read transaction. */
const PAGE_SIZE = 500;
/** Fields that no schema declares but submissions have, as columns of their own. */
const MAX_UNDECLARED_FIELDS = 1000;

/**
 * The submissions oldest first, in parts, each read in a transaction of its own so that a long export holds up no
 * checkpoint. Submissions that come meanwhile may be left out.
 *
 * @throws invalid_request on a malformed cursor; usage when a CSV would have too many columns.
 */
export function* exportSubmissions(db: Database, request: ExportRequest): Generator<ExportPart> {
  const { format, toJson } = request;
  const fields = format === "csv" ? collectFields(db, request.filter) : [];
  let count = 0;
  if (format === "csv") yield { text: csvHeader(fields), count };
  for (const page of readPages(db, request)) {
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

function* readPages(db: Database, request: ExportRequest): Generator<readonly Submission[]> {
  let after = request.cursor;
  let left = request.limit ?? Infinity;
  while (left > 0) {
    const page = readOldestFirst(db, request.filter, after, Math.min(PAGE_SIZE, left));
    if (page.length === 0) return;
    yield page;
    left -= page.length;
    after = page.at(-1)?.id ?? null;
  }
}

/**
 * The current schema's fields in its order, then those of earlier versions, then, sorted, those that submissions have
 * beyond their schemas; endpoint by endpoint.
 */
function collectFields(db: Database, filter: SubmissionFilter): string[] {
  let schemas = query.selectFrom("endpoint_schema").select("definition");
  if (filter.endpointId !== null) schemas = schemas.where("endpoint_id", "=", filter.endpointId);
  const versions = db.all(schemas.orderBy("endpoint_id").orderBy("version", "desc"));
  const declared = new Set(
    versions.flatMap(({ definition }) => Object.keys(JSON.parse(definition) as object)),
  );
  return [...declared, ...undeclaredFields(db, filter, declared)];
}

function undeclaredFields(db: Database, filter: SubmissionFilter, declared: ReadonlySet<string>): string[] {
  const names = sql<{ name: string }>`
    SELECT DISTINCT field.key AS name FROM submission, json_each(submission.data) AS field
    WHERE (${filter.endpointId} IS NULL OR submission.endpoint_number = ${numberOfEndpoint(filter.endpointId ?? "")})
      AND field.key NOT IN (SELECT value FROM json_each(${JSON.stringify([...declared])}))
    LIMIT ${MAX_UNDECLARED_FIELDS + 1}`.compile(query);
  const found = db.all<{ name: string }>({ compile: () => names });
  if (found.length > MAX_UNDECLARED_FIELDS) {
    throw new FormsvcError(
      "usage",
      `there are more than ${MAX_UNDECLARED_FIELDS} fields beyond the schemas; export with --format ndjson`,
    );
  }
  return found.map(({ name }) => name).sort();
}
