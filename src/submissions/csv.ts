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

/** @param fields names of the fields, in the order of their columns. */
export function csvHeader(fields: readonly string[]): string {
  return csvLine([...FIXED_COLUMNS, ...fields.map((field) => `data.${field}`)]);
}

/** One line with its end. A field that the submission does not have, or that is null, is an empty cell. */
export function csvRow(submission: Submission, fields: readonly string[]): string {
  return csvLine([
    submission.id,
    submission.endpointId,
    toIsoTime(submission.createdAt),
    String(submission.spamScore),
    submission.spamClass,
    submission.ipAddress,
    submission.userAgent,
    ...fields.map((field) => (Object.hasOwn(submission.data, field) ? cellText(submission.data[field]) : "")),
  ]);
}

/** RFC 4180: CRLF, and quotes around what needs them. */
function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => quote(guardFormula(cell))).join(",")}\r\n`;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A spreadsheet would run such a cell as a formula of whoever posted it. */
function guardFormula(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
