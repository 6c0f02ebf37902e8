import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { listRecipientsOf } from "../../recipients/recipient-type.ts";
import { listMailFields } from "../compose/mail-fields.ts";
import { REPLIES } from "./auto-reply-store.ts";
import { isServiceFull, type ReplyLimits } from "./reply-limits.ts";

/** The largest number of automatic replies that are named. */
const MAX_NAMED = 10;

/**
 * A finding for each automatic reply that can reach nobody, and for a limit that keeps all replies back. If there is none, a single sound
 * finding.
 */
export function* checkAutoReplies({ perHour }: ReplyLimits, now: number): Steps<Finding[]> {
  const findings: Finding[] = [];
  if (perHour !== null && perHour > 0 && (yield* isServiceFull(perHour, now)))
    findings.push(problem("mail.replies", `${perHour} automatic replies in an hour: ${KEPT_BACK}`, TOO_MANY));
  for (const { endpointId, onSince, settings } of yield* listRecipientsOf(REPLIES, null)) {
    const endpoint = onSince === null ? undefined : yield* findEndpoint(endpointId);
    if (endpoint === undefined || findings.length >= MAX_NAMED) continue;
    if ((yield* listMailFields(endpoint)).includes(settings.field)) continue;
    const named = `the automatic reply of ${plainText(endpoint.name)} (${endpointId})`;
    const why = `its schema has no field ${JSON.stringify(settings.field)} of format email any more`;
    const hint = { kind: "choose_reply_field", endpointId } as const;
    findings.push(problem("mail.replies", `${named} is sent to nobody: ${why}`, hint));
  }
  return findings.length > 0 ? findings : [sound("mail.replies", "every automatic reply has its field")];
}

const KEPT_BACK = "for now, posts to workspaces that belong to no operator get none";
const TOO_MANY =
  "look at the accounts that signed up lately; if all is right, raise mail.limits.repliesPerHour";
