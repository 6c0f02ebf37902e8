import { shorten } from "../../foundation/shorten.ts";
import { zipStream } from "../../foundation/zip-stream.ts";
import type { ZonedClock } from "../../foundation/zoned-time.ts";
import { cellText, isFormula } from "./csv.ts";
import type { Column } from "./export-columns.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/*
 * Writes the parts of Office Open XML (ECMA-376) that a table of cells needs, row by row. The existing packages hold all cells in memory,
 * or have not been maintained for years.
 */

/** The largest number of rows in a sheet that spreadsheet programs accept. */
const MAX_SHEET_ROWS = 1_048_576;
/**
 * The largest length of a sheet before compression, in UTF-16 units. Each unit takes at most four bytes, and a ZIP member must have less
 * than 4 GiB.
 */
const MAX_SHEET_LENGTH = 1_000_000_000;
/** The largest number of columns that spreadsheet programs accept. */
export const MAX_SHEET_COLUMNS = 16_384;
/** The longest text of a cell that spreadsheet programs accept, in UTF-16 units. */
const MAX_CELL_LENGTH = 32_767;
/** The length of the text that is compressed at once, in UTF-16 units. */
const PART_LENGTH = 65_536;

export interface Book {
  readonly columns: readonly Column[];
  /** The time zone of the book's times; null is UTC. */
  readonly clock: ZonedClock | null;
  readonly rows: AsyncGenerator<StoredSubmission>;
  /** The largest number of rows of a sheet, with its heading; further rows go on the next sheet. */
  readonly sheetRows?: number;
}

/** The bytes of a book in parts. @throws failed if it would have 4 GiB or more */
export async function* xlsxParts(book: Book): AsyncGenerator<Buffer> {
  try {
    yield* zipStream(members(book));
  } finally {
    await book.rows.return(undefined);
  }
}

/** All sheets have the same content type, so the list of types can come first, before the number of sheets is known. */
async function* members({ columns, clock, rows, sheetRows = MAX_SHEET_ROWS }: Book) {
  yield { name: "[Content_Types].xml", content: [CONTENT_TYPES] };
  yield { name: "_rels/.rels", content: [relations([["officeDocument", "xl/workbook.xml"]])] };
  yield { name: "xl/styles.xml", content: [STYLES] };
  const columnNames = columns.map((_, index) => columnName(index));
  let next = await rows.next();
  let sheets = 0;
  const sheet = async function* (): AsyncGenerator<string> {
    let text = SHEET_BEGIN + headingRow(columns, columnNames);
    let length = 0;
    for (let row = 2; next.done !== true && row <= sheetRows && length < MAX_SHEET_LENGTH; row += 1) {
      text += submissionRow(next.value, { columns, columnNames, clock, row });
      next = await rows.next();
      if (text.length < PART_LENGTH) continue;
      yield text;
      length += text.length;
      text = "";
    }
    yield text + SHEET_END;
  };
  do {
    sheets += 1;
    yield { name: `xl/worksheets/sheet${sheets}.xml`, content: sheet() };
  } while (!isOver(next));
  const numbers = Array.from({ length: sheets }, (_, index) => index + 1);
  yield { name: "xl/workbook.xml", content: [workbook(numbers)] };
  const parts = numbers.map((number) => ["worksheet", `worksheets/sheet${number}.xml`] as const);
  yield {
    name: "xl/_rels/workbook.xml.rels",
    content: [relations([...parts, ["styles", "styles.xml"]])],
  };
}

function isOver({ done }: IteratorResult<StoredSubmission>): boolean {
  return done === true;
}

interface RowParts {
  readonly columns: readonly Column[];
  readonly columnNames: readonly string[];
  readonly clock: ZonedClock | null;
  readonly row: number;
}

function headingRow(columns: readonly Column[], columnNames: readonly string[]): string {
  const cells = columns.map(({ heading }, index) =>
    textCell(`${columnNames[index]}1`, heading, STYLE.heading),
  );
  return `<row r="1">${cells.join("")}</row>`;
}

function submissionRow(submission: StoredSubmission, { columns, columnNames, clock, row }: RowParts): string {
  const cells = columns.map(({ isTime, cell }, index) => {
    const value = cell(submission);
    const reference = `${columnNames[index]}${row}`;
    return isTime ? timeCell(reference, value as number, clock) : valueCell(reference, value);
  });
  return `<row r="${row}">${cells.join("")}</row>`;
}
/** Days from 30 December 1899, with which spreadsheets begin to count, to 1 January 1970. */
const FIRST_DAY = 25_569;

/** Writes the local time of the zone: spreadsheets know no time zones. */
function timeCell(reference: string, time: number, clock: ZonedClock | null): string {
  const days = (time + (clock?.offsetMs(time) ?? 0)) / DAY_MS + FIRST_DAY;
  return `<c r="${reference}" s="${STYLE.time}"><v>${days}</v></c>`;
}

function valueCell(reference: string, value: unknown): string {
  if (typeof value === "number") return `<c r="${reference}"><v>${value}</v></c>`;
  if (typeof value === "boolean") return `<c r="${reference}" t="b"><v>${value ? 1 : 0}</v></c>`;
  const text = cellText(value);
  return text === "" ? "" : textCell(reference, text, isFormula(text) ? STYLE.text : STYLE.plain);
}

/**
 * Writes the text inside the cell, so that it is never a formula. A text that begins like a formula stays text even when somebody edits the
 * cell.
 */
function textCell(reference: string, text: string, style: number): string {
  return `<c r="${reference}" t="inlineStr" s="${style}"><is><t xml:space="preserve">${escapeText(shorten(text, MAX_CELL_LENGTH))}</t></is></c>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
/** Characters that XML cannot represent. */
const NOT_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
/** An underscore that would begin an escape like `_x000D_`: programs replace the escape by the character with that number. */
const CODED = /_(?=x[0-9A-Fa-f]{4}_)/g;

function escapeText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(NOT_XML, "\ufffd")
    .replaceAll(CODED, "_x005F_")
    .replaceAll(/[&<>]/g, (sign) => ENTITIES[sign] ?? "");
}

/** The name of a column: A, B, …, Z, AA, AB, … */
function columnName(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : columnName(Math.floor(index / 26) - 1) + last;
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml";

const CONTENT_TYPES = `${DECLARATION}<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="${TYPE}.worksheet+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/>
</Types>`;

/** The styles of cells, as indexes into {@link STYLES}. */
const STYLE = { plain: 0, time: 1, heading: 2, text: 3 } as const;

const STYLES = `${DECLARATION}<styleSheet xmlns="${MAIN}">
<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border/></borders>
<cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="4"><xf/><xf numFmtId="164" applyNumberFormat="1"/><xf fontId="1" applyFont="1"/><xf numFmtId="49" applyNumberFormat="1"/></cellXfs>
</styleSheet>`;

/** The heading row is frozen, so that it stays visible. */
const SHEET_BEGIN = `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols><col min="1" max="1" width="20" customWidth="1"/></cols><sheetData>`;
const SHEET_END = "</sheetData></worksheet>";

function workbook(sheets: readonly number[]): string {
  const each = sheets.map(
    (number) =>
      `<sheet name="Submissions${number === 1 ? "" : ` ${number}`}" sheetId="${number}" r:id="r${number}"/>`,
  );
  return `${DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><bookViews><workbookView/></bookViews><sheets>${each.join("")}</sheets></workbook>`;
}

function relations(parts: readonly (readonly [type: string, target: string])[]): string {
  const each = parts.map(
    ([type, target], index) =>
      `<Relationship Id="r${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships">${each.join("")}</Relationships>`;
}
