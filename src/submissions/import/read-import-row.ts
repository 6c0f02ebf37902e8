import { aheadOfClock } from "./ahead-of-clock.ts";
import { canonicalAddress } from "../../foundation/ip-address.ts";
import type { ZonedClock } from "../../foundation/zoned-time.ts";
import type { CompiledSchema } from "../../schemas/compile-schema.ts";
import type { FieldDefinition } from "../../schemas/field-definition.ts";
import type { FieldIssue } from "../../schemas/issue.ts";
import { MAX_SET_ASIDE_BYTES, type SetAside } from "../../schemas/set-aside.ts";
import { coerceForm } from "../receive/coerce-form.ts";
import { unguarded } from "../export/csv.ts";
import type { ColumnRole, TableFormat } from "./import-formats.ts";
import { rowHash } from "./imported-rows.ts";
import type { ColumnMap } from "./map-columns.ts";
import { findUnfit } from "../receive/parse-body.ts";
import { readImportDay, readImportTime } from "./read-import-time.ts";
import type { RowCounts } from "./row-counts.ts";
import { MAX_USER_AGENT_LENGTH } from "../stored/submission.ts";
import { setAsideFields } from "../stored/submission-json.ts";
import type { TableRow } from "./table-rows.ts";

/** What is needed to read the rows of one file. */
export interface RowReader {
  readonly format: TableFormat;
  readonly columns: ColumnMap;
  /** Whether the cells may have the apostrophes of our own CSV. */
  readonly isGuarded: boolean;
  readonly schema: CompiledSchema;
  /** The time zone for times without one. */
  readonly clock: ZonedClock;
  readonly now: number;
  readonly counts: RowCounts;
  /** The largest length of the fields of a row together, in UTF-16 units. */
  readonly maxLength: number;
}

/** A row that matches the schema of the form. */
export interface ReadRow {
  readonly format: TableFormat;
  readonly hash: string;
  /** The id that the service gave the row; empty if there is none. */
  readonly serviceId: string;
  readonly createdAt: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly setAside: SetAside | null;
  /** Empty if the row has none. */
  readonly ipAddress: string;
  readonly userAgent: string;
}

export interface RefusedRow {
  readonly line: number;
  /** The field that is wrong; null if the whole row is. */
  readonly field: string | null;
  readonly message: string;
}

export function readRow(reader: RowReader, row: TableRow): ReadRow | RefusedRow {
  const { format, columns, schema, counts } = reader;
  const { line, problem } = row;
  const cells = reader.isGuarded ? row.cells.map(withoutGuard) : row.cells;
  const refuse = (field: string | null, message: string): RefusedRow => ({ line, field, message });
  if (problem !== null) return refuse(null, problem);
  const roleText = (role: ColumnRole): string => textOf(cells[columns.roles.get(role) ?? -1]);
  const hasTime = columns.roles.has("created_at");
  const createdAt = hasTime ? timeOf(reader, roleText("created_at")) : reader.now;
  if (typeof createdAt === "string") return refuse("created_at", createdAt);
  const body: Record<string, unknown> = {};
  for (const { index, field } of columns.fields) {
    const value = valueOf(cells[index], schema.definition[field], columns);
    if (value !== undefined) body[field] = value;
  }
  const unfit = findUnfit(body);
  if (unfit !== undefined) return refuse(null, unfit);
  let length = 0;
  for (const { index } of columns.fields) length += lengthOf(cells[index]);
  if (length > reader.maxLength)
    return refuse(null, `the row has more than ${reader.maxLength} characters, and no post may be that long`);
  const checked = schema.validate(body);
  if (!checked.ok) {
    const [[field, { issues }] = ["", { issues: [] }]] = Object.entries(checked.details);
    const [issue] = issues;
    return refuse(field, issue === undefined ? "does not fit" : messageOf(issue));
  }
  const { data } = checked;
  const setAside = setAsideOf(cells[columns.roles.get("unknown_fields") ?? -1]);
  if (typeof setAside === "string") return refuse("unknown_fields", setAside);
  const serviceId = roleText("id").slice(0, MAX_ID_LENGTH);
  return {
    format,
    // Without a time of its own, a row is the same row whenever it is imported.
    hash: rowHash({ format, serviceId, createdAt: hasTime ? createdAt : null, data }, counts),
    serviceId,
    createdAt,
    data,
    setAside,
    ipAddress: canonicalAddress(roleText("ip_address")) ?? "",
    userAgent: roleText("user_agent").slice(0, MAX_USER_AGENT_LENGTH).toWellFormed(),
  };
}

/** The time that a cell tells, or what is wrong with it. */
function timeOf({ clock, now }: RowReader, cell: string): number | string {
  const time = readImportTime(cell, clock);
  if (time === null) return TIME_PROBLEM;
  if (time < 0) return "the time is before 1970";
  const ahead = aheadOfClock(time, cell, now);
  return ahead === null ? time : `${ahead}; ${AHEAD_ADVICE}`;
}

const MAX_ID_LENGTH = 500;
const AHEAD_ADVICE = "write its time zone behind it if it is of another than the workspace's, or correct it";
const TIME_PROBLEM =
  "not a time; expected one like 2026-01-31T14:05:00Z, 31.01.2026 14:05 or 1/31/2026 14:05";

/** The message of an issue. For dates and numbers it says how tables write them. */
function messageOf(issue: FieldIssue): string {
  if (issue.code === "invalid_string" && issue.validation === "date")
    return "not a date; expected one like 2026-11-30 or 30.11.2026";
  if (issue.code === "invalid_type" && issue.expected === "number" && issue.received === "string")
    return "not a number; expected one like 1500.5";
  return issue.message;
}

function withoutGuard(cell: unknown): unknown {
  return typeof cell === "string" ? unguarded(cell) : cell;
}

function lengthOf(cell: unknown): number {
  if (typeof cell === "string") return cell.length;
  return typeof cell === "object" && cell !== null ? JSON.stringify(cell).length : 0;
}

function textOf(cell: unknown): string {
  return typeof cell === "string" || typeof cell === "number" ? String(cell).trim() : "";
}

/** The unknown fields that our own table has in one cell, or what is wrong with them. */
function setAsideOf(cell: unknown): SetAside | null | string {
  if (cell === undefined || cell === null || cell === "") return null;
  if (typeof cell === "string" && cell.length > MAX_SET_ASIDE_BYTES)
    return `has more than ${MAX_SET_ASIDE_BYTES} bytes`;
  const read = setAsideFields.safeParse(typeof cell === "string" ? parseJson(cell, "{") : cell);
  if (read.success) return { fields: read.data, dropped: 0 };
  return read.error.issues[0]?.message ?? "expected an object";
}

/** The value that the form would have sent, or that our own table has; undefined if the cell is empty. */
function valueOf(
  cell: unknown,
  field: FieldDefinition | undefined,
  { isOwn }: Pick<ColumnMap, "isOwn">,
): unknown {
  if (cell === null || cell === undefined || field === undefined) return undefined;
  if (typeof cell !== "string")
    return field.type === "string" && (typeof cell === "number" || typeof cell === "boolean")
      ? String(cell)
      : cell;
  // The text of a post by a script: its line breaks and blanks stay what they are.
  if (isOwn && field.type === "string" && field.format !== "date") return cell === "" ? undefined : cell;
  if (cell.trim() === "") return undefined;
  if (field.type === "array" || field.type === "object") {
    const parsed = parseJson(cell, field.type === "array" ? "[" : "{");
    if (parsed !== undefined) return parsed;
  }
  if (field.type === "array") return listOf(cell, field.items);
  return plainValue(cell, field);
}

function plainValue(cell: string, field: FieldDefinition): unknown {
  return coerceForm([["value", wordOf(cell, field)]], { value: field })["value"];
}

/** The text that a form would send for this cell. */
function wordOf(cell: string, field: FieldDefinition): string {
  const word = cell.trim();
  if (field.type === "boolean") return asBoolean(word.toLowerCase()) ?? word;
  if (field.type !== "string") return word;
  return field.format === "date" ? (readImportDay(word) ?? cell) : cell;
}

/** The words for yes and no that tables use besides those of forms. */
const WORDS: Readonly<Record<string, string>> = {
  true: "true",
  yes: "true",
  on: "true",
  checked: "true",
  false: "false",
  no: "false",
  off: "false",
};

function asBoolean(word: string): string | undefined {
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

/** Parses a JSON text that begins with `begin`; undefined if it is none. */
function parseJson(text: string, begin: string): unknown {
  if (!text.trimStart().startsWith(begin)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The separators with which services put several choices into one cell, the rarest first. The blanks around them are not part of them: to
 * look for those takes time with the square of their number.
 */
const LIST_SEPARATORS = [/;/, /\|/, /\n/, /,\s/] as const;

function listOf(cell: string, items: FieldDefinition | undefined): unknown[] {
  const separator = LIST_SEPARATORS.find((each) => each.test(cell));
  const texts = separator === undefined ? [cell] : cell.split(separator);
  return texts
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map((each) => (items === undefined ? each : plainValue(each, items)));
}
