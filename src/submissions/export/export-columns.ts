import { toIsoTime } from "../../foundation/clock.ts";
import { localTime, offsetTime, type ZonedClock } from "../../foundation/zoned-time.ts";
import type { Submission } from "../stored/submission.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** Columns as programs want them, or in the order in which people read. */
export const COLUMN_ORDERS = ["technical", "people"] as const;
export type ColumnOrder = (typeof COLUMN_ORDERS)[number];

/** What an export has of the fields. */
export interface ExportFields {
  /** Names of the fields with a column of their own, in its order. */
  readonly names: ReadonlySet<string>;
  /** Whether there are other fields, which share a column. */
  readonly hasRest: boolean;
  /** Whether something was set aside, which has a column. */
  readonly hasSetAside: boolean;
  /** What fields are called for people, by their names; one without a label is called by its name. */
  readonly labels: ReadonlyMap<string, string>;
}

export interface Column {
  readonly heading: string;
  /** Of when a submission came, in milliseconds, its cells have `time` instead. */
  readonly isTime: boolean;
  /** Any value of JSON; undefined and null are empty. */
  readonly cell: (submission: StoredSubmission) => unknown;
}

export interface Look {
  readonly order: ColumnOrder;
  /** Whether fields are headed by their labels. */
  readonly hasLabels: boolean;
  /** Of the heading and cells of times; null writes UTC as ISO 8601 has it. */
  readonly clock: ZonedClock | null;
  /** For people: what a form is called. */
  readonly formName: (endpointId: string) => string;
}

/** The column for fields without one of their own; every field's column begins with "data." */
const REST_COLUMN = "more_data";
/** The column for what was sent beyond the schema. */
const SET_ASIDE_COLUMN = "unknown_fields";

export function columnsOf(fields: ExportFields, look: Look): readonly Column[] {
  return look.order === "people" ? peopleColumns(fields, look) : technicalColumns(fields, look);
}

/** The names and their order are kept: programs read them. */
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
  return Array.from(names, (name) =>
    column(headingOf(name), ({ data }) => (Object.hasOwn(data, name) ? shown(data[name]) : null)),
  );
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

/** Members as one JSON object; empty if there are none. */
function jsonCell(members: readonly (readonly [string, unknown])[]): string {
  return members.length === 0 ? "" : JSON.stringify(Object.fromEntries(members));
}

/** A heading that another column has too gets a number, so that no two columns are taken for one. */
function distinguished(columns: readonly Column[]): readonly Column[] {
  const seen = new Set<string>();
  return columns.map((each) => {
    let { heading } = each;
    for (let number = 2; seen.has(heading); number += 1) heading = `${each.heading} (${number})`;
    seen.add(heading);
    return { ...each, heading };
  });
}

/** A list of single values as people write it; files by their names. */
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

/** Each note on lines of its own, the oldest first. */
function notesText(notes: StoredSubmission["notes"], clock: ZonedClock | null): string {
  const look = { order: "people", clock } as const;
  return notes
    .map(({ text, by, createdAt }) => `${timeText(look, createdAt)} ${by ?? "the command line"}: ${text}`)
    .join("\n");
}

/** When something came, as text. */
export function timeText({ order, clock }: Pick<Look, "order" | "clock">, time: number): string {
  if (clock === null) return toIsoTime(time);
  return order === "people" ? localTime(clock, time) : offsetTime(clock, time);
}
