import type { Submission } from "./submission.ts";
import { toIsoTime } from "../foundation/clock.ts";

/** Columns before the fields. */
const FIXED_COLUMNS = [
  "id",
  "endpoint_id",
  "created_at",
  "spam_score",
  "spam_class",
  "ip_address",
  "user_agent",
] as const;

/** The column for fields without one of their own; every field's column begins with "data." */
const REST_COLUMN = "more_data";
/** The column for what was sent beyond the schema. */
const SET_ASIDE_COLUMN = "unknown_fields";

/** Between two cells: spreadsheets expect a semicolon in countries that write a comma in numbers. */
export const CSV_SEPARATORS = [",", ";"] as const;
export type CsvSeparator = (typeof CSV_SEPARATORS)[number];

export interface CsvFields {
  /** Names of the fields with a column of their own, in its order. */
  readonly names: ReadonlySet<string>;
  /** Whether there are other fields, which share a column. */
  readonly hasRest: boolean;
  /** Whether something was set aside, which has a column. */
  readonly hasSetAside: boolean;
}

export function csvHeader({ names, hasRest, hasSetAside }: CsvFields, separator: CsvSeparator = ","): string {
  const fields = [...names].map((field) => `data.${field}`);
  const shared = [...(hasRest ? [REST_COLUMN] : []), ...(hasSetAside ? [SET_ASIDE_COLUMN] : [])];
  return csvLine([...FIXED_COLUMNS, ...fields, ...shared], separator);
}

/** One line with its end. A field that the submission does not have, or that is null, is an empty cell. */
export function csvRow(
  submission: Submission,
  { names, hasRest, hasSetAside }: CsvFields,
  separator: CsvSeparator = ",",
): string {
  const { data, setAside } = submission;
  const cells = [
    submission.id,
    submission.endpointId,
    toIsoTime(submission.createdAt),
    String(submission.spamScore),
    submission.spamClass,
    submission.ipAddress,
    submission.userAgent,
    ...Array.from(names, (field) => (Object.hasOwn(data, field) ? cellText(data[field]) : "")),
    ...(hasRest ? [jsonCell(Object.entries(data).filter(([name]) => !names.has(name)))] : []),
    ...(hasSetAside ? [jsonCell(Object.entries(setAside?.fields ?? {}))] : []),
  ];
  return csvLine(cells, separator);
}

/** Members as one JSON object; empty if there are none. */
function jsonCell(members: readonly (readonly [string, unknown])[]): string {
  return members.length === 0 ? "" : JSON.stringify(Object.fromEntries(members));
}

/** RFC 4180, but for another separator: CRLF, and quotes around cells that need them. */
function csvLine(cells: readonly string[], separator: CsvSeparator): string {
  const needsQuotes = QUOTED[separator];
  const written = cells.map(guardFormula).map((cell) => (needsQuotes.test(cell) ? quote(cell) : cell));
  return `${written.join(separator)}\r\n`;
}

/** A program may take either for a separator, so a file with semicolons has quotes around both. */
const QUOTED: Readonly<Record<CsvSeparator, RegExp>> = { ",": /[",\r\n]/, ";": /[",;\r\n]/ };

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * A spreadsheet would run such a cell as a formula that a stranger posted. Some pass over a control character at its start, and some
 * take a full-width sign for the ordinary one.
 */
const FORMULA = /^[=+\-@\0\t\n\r＝＋－＠]/;

function guardFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
