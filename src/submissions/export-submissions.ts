import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { type CsvFields, csvHeader, csvRow } from "./csv.ts";
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
/**
 * Fields that no schema declares but submissions have, as columns of their own: those that most submissions have. One
 * stranger's post may have thousands; what is beyond shares one column.
 */
const MAX_UNDECLARED_FIELDS = 1000;

/**
 * The submissions oldest first, in parts, each read in a transaction of its own so that a long export holds up no
 * checkpoint. Submissions that come meanwhile may be left out.
 *
 * @throws invalid_request on a malformed cursor.
 */
export async function* exportSubmissions(db: Database, request: ExportRequest): AsyncGenerator<ExportPart> {
  const { format, toJson } = request;
  const fields = format === "csv" ? await db.read(() => collectFields(request.filter)) : NO_FIELDS;
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

const NO_FIELDS: CsvFields = { names: new Set(), hasRest: false };

async function* readPages(db: Database, request: ExportRequest): AsyncGenerator<readonly Submission[]> {
  let after = request.cursor;
  let left = request.limit ?? Infinity;
  while (left > 0) {
    const [last, most] = [after, Math.min(PAGE_SIZE, left)];
    const page = await db.read(() => readOldestFirst(request.filter, last, most));
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
function* collectFields(filter: SubmissionFilter): Steps<CsvFields> {
  let schemas = query.selectFrom("endpoint_schema").select("definition");
  if (filter.endpointId !== null) schemas = schemas.where("endpoint_id", "=", filter.endpointId);
  const versions = yield* all(schemas.orderBy("endpoint_id").orderBy("version", "desc"));
  const declared = new Set(
    versions.flatMap(({ definition }) => Object.keys(JSON.parse(definition) as object)),
  );
  const undeclared = yield* undeclaredFields(filter, declared);
  return {
    names: new Set([...declared, ...undeclared.slice(0, MAX_UNDECLARED_FIELDS).sort()]),
    hasRest: undeclared.length > MAX_UNDECLARED_FIELDS,
  };
}

/** Those that most submissions have first, and one more than have columns where there are more. */
function* undeclaredFields(filter: SubmissionFilter, declared: ReadonlySet<string>): Steps<string[]> {
  const names = sql<{ name: string }>`
    SELECT field.key AS name FROM submission, json_each(submission.data) AS field
    WHERE (${filter.endpointId} IS NULL OR submission.endpoint_number = ${numberOfEndpoint(filter.endpointId ?? "")})
      AND field.key NOT IN (SELECT value FROM json_each(${JSON.stringify([...declared])}))
    GROUP BY field.key ORDER BY count(*) DESC, field.key
    LIMIT ${MAX_UNDECLARED_FIELDS + 1}`.compile(query);
  return (yield* all({ compile: () => names })).map(({ name }) => name);
}
