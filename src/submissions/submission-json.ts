import { toIsoTime } from "../foundation/clock.ts";
import type { Submission } from "./submission.ts";

/** A submission as every JSON output shows it. */
export function submissionJson(submission: Submission) {
  return {
    id: submission.id,
    endpoint_id: submission.endpointId,
    data: submission.data,
    spam_score: submission.spamScore,
    spam_class: submission.spamClass,
    spam_reasons: submission.spamReasons,
    spam_version: submission.spamVersion,
    ip_address: submission.ipAddress,
    user_agent: submission.userAgent,
    created_at: toIsoTime(submission.createdAt),
  };
}
