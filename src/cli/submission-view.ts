import { toIsoTime } from "../foundation/clock.ts";
import type { Submission } from "../submissions/submission.ts";
import { jsonText } from "../foundation/plain-text.ts";
import type { Output } from "./output.ts";

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
  ];
  output.table([heading, ""], facts, "");
}
