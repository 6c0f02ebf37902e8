import { toIsoTime } from "../foundation/clock.ts";
import type { Submission } from "../submissions/submission.ts";
import { jsonText, type Output } from "./output.ts";

export function submissionJson(submission: Submission) {
  return {
    id: submission.id,
    endpoint_id: submission.endpointId,
    data: submission.data,
    spam_score: submission.spamScore,
    spam_class: submission.spamClass,
    spam_reasons: submission.spamReasons,
    ip_address: submission.ipAddress,
    user_agent: submission.userAgent,
    created_at: toIsoTime(submission.createdAt),
  };
}

export function printWhole(output: Output, submission: Submission, heading = "SUBMISSION"): void {
  const facts = [
    ["id", submission.id],
    ["endpoint", submission.endpointId],
    ["created", toIsoTime(submission.createdAt)],
    ["address", submission.ipAddress],
    ["user agent", submission.userAgent],
    ["schema version", String(submission.schemaVersion)],
    ["spam score", `${submission.spamScore} (${submission.spamClass})`],
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
