import type { z } from "zod";
import type { notSentShape, PostedJson, SubmissionJson } from "../../submissions/stored/submission-json.ts";
import { conditionText, sentText } from "../../outbox/queue/conditions.ts";
import { jsonText } from "../../foundation/plain-text.ts";
import type { Output } from "./output.ts";

/** The posted content on one line: the data, then the fields that were set aside. */
export function contentText({
  data,
  unknown_fields: beside = {},
}: Pick<SubmissionJson, "data" | "unknown_fields">): string {
  return Object.keys(beside).length === 0 ? jsonText(data) : `${jsonText(data)} + ${jsonText(beside)}`;
}

type WorkMember = "state" | "assignee" | "notes" | "deleted_at";

/** A submission or held post with the version of its schema; a held post has no state. */
type Whole = Omit<PostedJson, "spam_class"> &
  Partial<Pick<SubmissionJson, WorkMember>> & {
    readonly not_sent?: z.output<typeof notSentShape> | undefined;
    readonly spam_class: string;
    readonly schema_version: number;
  };

export function printWhole(output: Output, submission: Whole, heading = "SUBMISSION"): void {
  const facts = [
    ["id", submission.id],
    ["endpoint", submission.endpoint_id],
    ["created", submission.created_at],
    ["address", submission.ip_address],
    ["user agent", submission.user_agent],
    ["schema version", String(submission.schema_version)],
    [
      "spam score",
      `${submission.spam_score} (${submission.spam_class}), filter version ${submission.spam_version}`,
    ],
    ...submission.spam_reasons.map(({ signal, points, field, detail }) => [
      `  ${points > 0 ? "+" : ""}${points}`,
      `${signal}${field === null ? "" : ` in ${field}`}: ${detail}`,
    ]),
    ...Object.entries(submission.data).map(([name, value]) => [
      `data.${name}`,
      typeof value === "string" ? value : jsonText(value),
    ]),
    ...setAsideRows(submission),
    ...workRows(submission),
    ...notSentRows(submission),
  ];
  output.table([heading, ""], facts, "");
}

function setAsideRows({ unknown_fields: fields, unknown_fields_dropped: dropped }: Whole): string[][] {
  if (fields === undefined && dropped === undefined) return [];
  return [
    ["not among the fields of the form", ""],
    ...Object.entries(fields ?? {}).map(([path, value]) => [
      `  ${path}`,
      typeof value === "string" ? value : jsonText(value),
    ]),
    ...(dropped === undefined ? [] : [["  lost for lack of room", String(dropped)]]),
  ];
}

/** The largest number of characters of a value that are shown. */
const MAX_SHOWN_VALUE = 60;

/** For each recipient that got no message: the value of the field, and the condition that it did not meet. */
function notSentRows({ not_sent: leftOut = [], data }: Whole): string[][] {
  return leftOut.map(({ id, kind: _kind, ...condition }) => {
    const { field } = condition;
    const sent = sentText(Object.hasOwn(data, field) ? data[field] : null, MAX_SHOWN_VALUE);
    const is = sent === null ? "filled" : sent === "" ? "empty" : sent;
    return ["not sent", `${id}: ${field} is ${is} (only if ${conditionText(condition)})`];
  });
}

function workRows({ state, assignee, notes = [], deleted_at: deletedAt }: Whole): string[][] {
  if (state === undefined) return [];
  return [
    ["state", state],
    ["assignee", assignee?.email ?? "nobody"],
    ...(deletedAt === undefined ? [] : [["in the bin since", deletedAt]]),
    ...notes.map(({ text, by, created_at: at }) => [`note ${at}`, `${by ?? "command line"}: ${text}`]),
  ];
}
