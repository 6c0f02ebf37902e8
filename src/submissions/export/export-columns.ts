import { toIsoTime } from "../../foundation/clock.ts";
import { localTime, offsetTime, type ZonedClock } from "../../foundation/zoned-time.ts";
import type { Submission } from "../stored/submission.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** The order of columns: `technical` is for programs, `people` is the order in which people read. */
export const COLUMN_ORDERS = ["technical", "people"] as const;
export type ColumnOrder = (typeof COLUMN_ORDERS)[number];

/** The fields that an export has columns for. */
export interface ExportFields {
  /** Names of the fields that have a column of their own, in the order of the columns. */
  readonly names: ReadonlySet<string>;
  /** Whether there are other fields, which share one column. */
  readonly hasRest: boolean;
  /** Whether a submission has unknown fields that were set aside, which share one column. */
  readonly hasSetAside: boolean;
  /** Labels of fields, by their names. A field without a label is called by its name. */
  readonly labels: ReadonlyMap<string, string>;
}

/** Whether the columns of these fields have all that was sent. They lack a new field of a submission that came after they were chosen. */
export function haveAll(
  { names, hasRest, hasSetAside }: ExportFields,
  { data, setAside }: StoredSubmission,
): boolean {
  if (!hasSetAside && setAside !== null) return false;
  return hasRest || Object.keys(data).every((name) => names.has(name));
}

export interface Column {
  readonly heading: string;
  /** Whether `cell` is the time of the submission, in milliseconds since 1970 UTC. Its text depends on the look. */
  readonly isTime: boolean;
  /** The name of the field whose values the column has; absent if it has something else. */
  readonly field?: string;
  /** Returns any value of JSON; undefined and null make an empty cell. */
  readonly cell: (submission: StoredSubmission) => unknown;
}

export interface Look {
  readonly order: ColumnOrder;
  /** Whether the headings of fields are their labels. */
  readonly hasLabels: boolean;
  /** The time zone of the heading and the cells of times; null writes times in UTC as ISO 8601 says. */
  readonly clock: ZonedClock | null;
  /** The name of a form, for the order `people`. */
  readonly formName: (endpointId: string) => string;
}

/** The column that fields without a column of their own share. Its name cannot clash: the name of a field's column begins with "data." */
const REST_COLUMN = "more_data";
/** The column for fields that the schema does not have. */
const SET_ASIDE_COLUMN = "unknown_fields";

export function columnsOf(fields: ExportFields, look: Look): readonly Column[] {
  return look.order === "people" ? peopleColumns(fields, look) : technicalColumns(fields, look);
}

/** The names of these columns and their order must not change: programs read them. */
export function technicalColumns(
  fields: ExportFields,
  { hasLabels }: Pick<Look, "hasLabels"> = { hasLabels: false },
): readonly Column[] {
  const columns = [
    column("id", ({ id }) => id),
    column("endpoint_id", ({ endpointId }) => endpointId),
    { heading: "created_at", isTime: true, cell: ({ createdAt }: Submission) => createdAt },
    column("spam_score", ({ spamScore }) => spamScore),
    column("spam_class", ({ spamClass }) => spamClass),
    column("ip_address", ({ ipAddress }) => ipAddress),
    column("user_agent", ({ userAgent }) => userAgent),
    ...fieldColumns(fields, (name) => (hasLabels && fields.labels.get(name)) || `data.${name}`),
    ...sharedColumns(fields, [REST_COLUMN, SET_ASIDE_COLUMN]),
  ];
  return hasLabels ? distinguished(columns) : columns;
}

function peopleColumns(fields: ExportFields, { clock, formName }: Look): readonly Column[] {
  const readable = fieldColumns(fields, (name) => fields.labels.get(name) ?? name, readableValue);
  return distinguished([
    {
      heading: `When (${clock?.zone ?? "UTC"})`,
      isTime: true,
      cell: ({ createdAt }: Submission) => createdAt,
    },
    column("Form", ({ endpointId }) => formName(endpointId)),
    ...readable,
    ...sharedColumns(fields, ["Further fields", "Not among the fields"]),
    column("State", ({ state }) => state),
    column("Assigned to", ({ assignee }) => assignee?.email),
    column("Notes", ({ notes }) => notesText(notes, clock)),
    column("Spam score", ({ spamScore }) => spamScore),
    column("Spam class", ({ spamClass }) => spamClass),
    column("IP address", ({ ipAddress }) => ipAddress),
    column("Browser", ({ userAgent }) => userAgent),
    column("Id", ({ id }) => id),
    column("Form id", ({ endpointId }) => endpointId),
  ]);
}

function column(heading: string, cell: Column["cell"]): Column {
  return { heading, isTime: false, cell };
}

function fieldColumns(
  { names }: ExportFields,
  headingOf: (name: string) => string,
  shown: (value: unknown) => unknown = (value) => value,
): Column[] {
  return Array.from(names, (name) => ({
    ...column(headingOf(name), ({ data }) => (Object.hasOwn(data, name) ? shown(data[name]) : null)),
    field: name,
  }));
}

function sharedColumns(
  { names, hasRest, hasSetAside }: ExportFields,
  [rest, setAside]: readonly [string, string],
): Column[] {
  return [
    ...(hasRest
      ? [column(rest, ({ data }) => jsonCell(Object.entries(data).filter(([name]) => !names.has(name))))]
      : []),
    ...(hasSetAside
      ? [column(setAside, (submission) => jsonCell(Object.entries(submission.setAside?.fields ?? {})))]
      : []),
  ];
}

/** Writes members as one JSON object; the cell is empty if there are none. */
function jsonCell(members: readonly (readonly [string, unknown])[]): string {
  return members.length === 0 ? "" : JSON.stringify(Object.fromEntries(members));
}

/** Appends a number to a heading that an earlier column has, so that all headings differ. */
function distinguished(columns: readonly Column[]): readonly Column[] {
  const seen = new Set<string>();
  /** The number to try next for each heading: without it, equal headings would take time with the square of their number. */
  const next = new Map<string, number>();
  return columns.map((each) => {
    let { heading } = each;
    let number = next.get(heading) ?? 2;
    for (; seen.has(heading); number += 1) heading = `${each.heading} (${number})`;
    next.set(each.heading, number);
    seen.add(heading);
    return { ...each, heading };
  });
}

/** Writes a list of single values for people, separated by commas; a file is written as its name. */
function readableValue(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const texts = value.map((each: unknown) => {
    if (typeof each === "string" || typeof each === "number") return String(each);
    return isFile(each) ? each.name : null;
  });
  return texts.includes(null) ? value : texts.join(", ");
}

function isFile(value: unknown): value is { readonly name: string } {
  if (typeof value !== "object" || value === null || !("id" in value) || !("name" in value)) return false;
  return typeof value.id === "string" && value.id.startsWith("fil_") && typeof value.name === "string";
}

/** Writes each note on lines of its own, the oldest first. */
function notesText(notes: StoredSubmission["notes"], clock: ZonedClock | null): string {
  const look = { order: "people", clock } as const;
  return notes
    .map(({ text, by, createdAt }) => `${timeText(look, createdAt)} ${by ?? "the command line"}: ${text}`)
    .join("\n");
}

/** Writes a time as text, in milliseconds since 1970 UTC. */
export function timeText({ order, clock }: Pick<Look, "order" | "clock">, time: number): string {
  if (clock === null) return toIsoTime(time);
  return order === "people" ? localTime(clock, time) : offsetTime(clock, time);
}
