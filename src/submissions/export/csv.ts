import { type Column, type Look, timeText } from "./export-columns.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** Between two cells: spreadsheets expect a semicolon in countries that write a comma in numbers. */
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

/** One line with its end. A field that the submission does not have, or that is null, is an empty cell. */
export function csvRow(submission: StoredSubmission, columns: readonly Column[], style: CsvStyle): string {
  const cells = columns.map(({ isTime, cell }) => {
    const value = cell(submission);
    return isTime ? timeText(style, value as number) : cellText(value);
  });
  return csvLine(cells, style.separator);
}

/** RFC 4180, but for another separator: CRLF, and quotes around cells that need them. */
function csvLine(cells: readonly string[], separator: CsvSeparator): string {
  const needsQuotes = QUOTED[separator];
  const written = cells.map(guardFormula).map((cell) => (needsQuotes.test(cell) ? quote(cell) : cell));
  return `${written.join(separator)}\r\n`;
}

/** A program may take either for a separator, so a file with semicolons has quotes around both. */
const QUOTED: Readonly<Record<CsvSeparator, RegExp>> = { ",": /[",\r\n]/, ";": /[",;\r\n]/ };

/** A value of JSON as the text of a cell. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * A spreadsheet would run such a cell as a formula that a stranger posted. Some pass over a control character at its start, and some
 * take a full-width sign for the ordinary one.
 */
const FORMULA = /^[=+\-@\0\t\n\r＝＋－＠]/;

export function isFormula(cell: string): boolean {
  return FORMULA.test(cell);
}

function guardFormula(cell: string): string {
  return isFormula(cell) ? `'${cell}` : cell;
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
