import { type Column, type Look, timeText } from "./export-columns.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** The separators between two cells: spreadsheets expect a semicolon in countries that write numbers with a comma. */
export const CSV_SEPARATORS = [",", ";"] as const;
export type CsvSeparator = (typeof CSV_SEPARATORS)[number];

/** How the cells of a CSV are written. */
export interface CsvStyle extends Pick<Look, "order" | "clock"> {
  readonly separator: CsvSeparator;
}

export function csvHeader(columns: readonly Column[], { separator }: Pick<CsvStyle, "separator">): string {
  return csvLine(
    columns.map(({ heading }) => heading),
    separator,
  );
}

/** One line of the CSV, with its line break. A field that the submission does not have, or that is null, is an empty cell. */
export function csvRow(submission: StoredSubmission, columns: readonly Column[], style: CsvStyle): string {
  const cells = columns.map(({ isTime, cell }) => {
    const value = cell(submission);
    return isTime ? timeText(style, value as number) : cellText(value);
  });
  return csvLine(cells, style.separator);
}

/** Writes a line as RFC 4180 says, except that the separator may be another: it ends with CRLF, and cells that need quotes have them. */
function csvLine(cells: readonly string[], separator: CsvSeparator): string {
  const needsQuotes = QUOTED[separator];
  const written = cells.map(guardFormula).map((cell) => (needsQuotes.test(cell) ? quote(cell) : cell));
  return `${written.join(separator)}\r\n`;
}

/** Cells that need quotes, by separator. A program may take a comma for a separator too, so a file with semicolons quotes both. */
const QUOTED: Readonly<Record<CsvSeparator, RegExp>> = { ",": /[",\r\n]/, ";": /[",;\r\n]/ };

/** A value of JSON as the text of a cell. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The beginnings of texts that a spreadsheet would run as a formula, though a stranger posted them. Some spreadsheets skip a control
 * character at the start, and some take a full-width sign for the ordinary one.
 */
const FORMULA = /^[=+\-@\0\t\n\r＝＋－＠]/;

export function isFormula(cell: string): boolean {
  return FORMULA.test(cell);
}

/** A text that gets one more apostrophe: a formula, and a formula behind apostrophes, so that {@link unguarded} can tell the two apart. */
const GUARDED = new RegExp(`^'*${FORMULA.source.slice(1)}`, FORMULA.flags);

function guardFormula(cell: string): string {
  return GUARDED.test(cell) ? `'${cell}` : cell;
}

/** The text of a cell without the apostrophe that was put before it: any text comes back as it was. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && GUARDED.test(cell) ? cell.slice(1) : cell;
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
