import { toIsoTime } from "../foundation/clock.ts";
import type { Submission } from "../submissions/submission.ts";
import { jsonText } from "../foundation/plain-text.ts";
import type { Output } from "./output.ts";

/** What was sent, on one line: the data, then what was set aside. */
export function contentText({ data, setAside }: Pick<Submission, "data" | "setAside">): string {
  const beside = setAside?.fields ?? {};
  return Object.keys(beside).length === 0 ? jsonText(data) : `${jsonText(data)} + ${jsonText(beside)}`;
}

export function printWhole(output: Output, submission: Submission, heading = "SUBMISSION"): void {
  const facts = [
    ["id", submission.id],
    ["endpoint", submission.endpointId],
    ["created", toIsoTime(submission.createdAt)],
    ["address", submission.ipAddress],
    ["user agent", submission.userAgent],
    ["schema version", String(submission.schemaVersion)],
    [
      "spam score",
      `${submission.spamScore} (${submission.spamClass}), filter version ${submission.spamVersion}`,
    ],
    ...submission.spamReasons.map(({ signal, points, field, detail }) => [
      `  ${points > 0 ? "+" : ""}${points}`,
      `${signal}${field === null ? "" : ` in ${field}`}: ${detail}`,
    ]),
    ...Object.entries(submission.data).map(([name, value]) => [
      `data.${name}`,
      typeof value === "string" ? value : jsonText(value),
    ]),
    ...setAsideRows(submission.setAside),
  ];
  output.table([heading, ""], facts, "");
}

function setAsideRows(setAside: Submission["setAside"]): string[][] {
  if (setAside === null) return [];
  const { fields, dropped } = setAside;
  return [
    ["not among the fields of the form", ""],
    ...Object.entries(fields).map(([path, value]) => [
      `  ${path}`,
      typeof value === "string" ? value : jsonText(value),
    ]),
    ...(dropped === 0 ? [] : [["  lost for lack of room", String(dropped)]]),
  ];
}
