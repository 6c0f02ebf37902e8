import { FormsvcError } from "../../foundation/errors.ts";
import { sayJsonFault } from "../../foundation/json-fault.ts";
import { decodeText } from "./decode-text.ts";
import { FORMATS, type TableFormat } from "./import-formats.ts";
import { type ImportedFile, tooManyMembers } from "./imported-file.ts";
import { findListIn, hasMoreMembers, piecesOf } from "./json-pieces.ts";
import { readCsv } from "./read-csv.ts";

export interface TableRow {
  /** The line of a CSV, or the position of a JSON row; the first is 1. */
  readonly line: number;
  /** The cells in the order of the headings: texts of a CSV, any values of JSON. */
  readonly cells: readonly unknown[];
  /** Why the row cannot be read; null if it can. */
  readonly problem: string | null;
}

export interface Table {
  /** Whether it is a table of our own kind, whose cells have apostrophes before what looks like a formula. */
  readonly isGuarded: boolean;
  readonly headings: readonly string[];
  readonly rows: AsyncGenerator<TableRow>;
}

const MAX_HEADINGS = 2000;
/** The largest number of cells of a JSON table, empty ones too: a row has one for each member that any row has. */
const MAX_CELLS = 10_000_000;

/** How JSON and NDJSON of our own export begin. */
const OWN_EXPORT = /^\[?\s*\{"id":"[^"]*","endpoint_id":/;

/**
 * Opens a table: a CSV, or JSON with a list of rows, which may be in the member `submissions`.
 *
 * @throws usage if the source is neither
 */
export async function openTable(
  source: ImportedFile,
  { format, encoding }: { readonly format: TableFormat; readonly encoding: string | null },
): Promise<Table> {
  const chunks = decodeText(source.bytes(), encoding);
  const first = await firstTexts(source, chunks);
  const begun = (first.at(-1) ?? "").trimStart();
  if (format === "csv" && OWN_EXPORT.test(begun))
    throw new FormsvcError(
      "usage",
      `${source.name}: the file is JSON of our own, and no table: import it as an export of formsvc, and name no other format`,
    );
  const all = prepend(first, chunks);
  return /^[[{]/.test(begun) ? jsonTable(source, all, format) : csvTable(source, all, format);
}

/** Reads up to the first text that is not blank, and returns it with the blank ones before it. @throws usage if there is none */
async function firstTexts(
  { name, longestPieceBytes }: ImportedFile,
  chunks: AsyncGenerator<string>,
): Promise<readonly string[]> {
  const texts: string[] = [];
  let length = 0;
  for (;;) {
    const { value, done } = await chunks.next();
    if (done === true) throw new FormsvcError("usage", `${name}: the file is empty`);
    texts.push(value);
    if (value.trim() !== "") return texts;
    length += value.length;
    if (length > longestPieceBytes)
      throw new FormsvcError("usage", `${name}: the file begins with more than ${longestPieceBytes} blanks`);
  }
}

async function* prepend(first: readonly string[], rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield* first;
  yield* rest;
}

async function csvTable(
  { name }: ImportedFile,
  text: AsyncIterable<string>,
  format: TableFormat,
): Promise<Table> {
  const records = readCsv(text);
  const head = await records.next();
  if (head.done === true) throw new FormsvcError("usage", `${name}: the file has no row`);
  const { cells: headings, problem } = head.value;
  if (problem !== null) throw new FormsvcError("usage", `${name}: line 1: ${problem}`);
  async function* rows(): AsyncGenerator<TableRow> {
    for await (const { line, cells, problem: wrong } of records) {
      const surplus = cells.slice(headings.length).some((cell) => cell !== "");
      const tooMany = surplus
        ? `the row has ${cells.length} cells, and the first line ${headings.length}`
        : null;
      yield { line, cells, problem: wrong ?? tooMany };
    }
  }
  return { headings, rows: rows(), isGuarded: format === "csv" };
}

async function jsonTable(
  source: ImportedFile,
  chunks: AsyncIterable<string>,
  format: TableFormat,
): Promise<Table> {
  const { name } = source;
  const headings = new Map<string, number>();
  const flat: (Readonly<Record<string, unknown>> | null)[] = [];
  for await (const items of readItems(source, await readWhole(source, chunks)))
    for (const item of items) {
      const row = flatten(item, FORMATS[format].fieldsIn);
      flat.push(row);
      for (const key of Object.keys(row ?? {})) if (!headings.has(key)) headings.set(key, headings.size);
      if (headings.size > MAX_HEADINGS)
        throw new FormsvcError("usage", `${name}: more than ${MAX_HEADINGS} members`);
    }
  if (flat.length * headings.size > MAX_CELLS)
    throw new FormsvcError(
      "usage",
      `${name}: ${flat.length} rows with ${headings.size} members are more than ${MAX_CELLS} cells; split the file`,
    );
  const keys = [...headings.keys()];
  async function* rows(): AsyncGenerator<TableRow> {
    for (const [index, row] of flat.entries()) {
      const cells = keys.map((key) => (row !== null && Object.hasOwn(row, key) ? row[key] : null));
      const problem = row === null ? "expected an object" : null;
      yield await Promise.resolve({ line: index + 1, cells, problem });
    }
  }
  return { headings: keys, rows: rows(), isGuarded: false };
}

async function readWhole(
  { name, longestPieceBytes }: ImportedFile,
  chunks: AsyncIterable<string>,
): Promise<string> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    // No row of a JSON table can be used before the whole text is read.
    if (text.length > longestPieceBytes)
      throw new FormsvcError(
        "usage",
        `${name}: JSON is read up to ${longestPieceBytes / 1_048_576} MiB here; export CSV instead`,
      );
  }
  return text;
}

/** The rows of a JSON table, some at a time. @throws usage */
async function* readItems(
  { name, mostMembers }: ImportedFile,
  text: string,
): AsyncGenerator<readonly unknown[]> {
  const begun = text.search(/[[{]/);
  const isList = text[begun] === "[";
  const start = isList ? begun + 1 : findListIn(text, "submissions");
  const none = `${name}: expected a list of rows, or one in "submissions"`;
  if (start === null) {
    if (!hasMoreMembers(text, mostMembers)) parse(name, text, text);
    throw new FormsvcError("usage", none);
  }
  const list = piecesOf(text, start, mostMembers);
  let count = 0;
  try {
    for await (const items of list.items) {
      yield items;
      count += items.length;
    }
  } catch (error) {
    if (error instanceof RangeError)
      throw new FormsvcError("usage", tooManyMembers(`${name}: one row after row ${count}`, mostMembers));
    if (error instanceof SyntaxError) throw notJson(name, text, error);
    throw error;
  }
  const around = `${text.slice(0, start)}]${text.slice(list.end())}`;
  if (hasMoreMembers(around, mostMembers)) throw new FormsvcError("usage", none);
  const outer = parse(name, text, around);
  // A member of that name may follow that is no list.
  if (!isList && !Array.isArray((outer as { readonly submissions?: unknown }).submissions))
    throw new FormsvcError("usage", none);
}

/** Parses a part of the text that stands for the whole, because the rest of it is known to be JSON. */
function parse(name: string, text: string, part: string): unknown {
  try {
    return JSON.parse(part);
  } catch (error) {
    throw notJson(name, text, error);
  }
}

function notJson(name: string, text: string, error: unknown): FormsvcError {
  return new FormsvcError("usage", `${name}: not JSON (${sayJsonFault(text, error)})`);
}

/** Moves the fields of a row beside the other members; a field replaces a member of the same name. Null if the row is not an object. */
function flatten(item: unknown, fieldsIn: string | null): Readonly<Record<string, unknown>> | null {
  if (!isObject(item)) return null;
  if (fieldsIn === null) return item;
  const { [fieldsIn]: fields, ...rest } = item;
  return isObject(fields) ? { ...rest, ...fields } : item;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
