import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { listMailFields } from "../mail-fields.ts";
import { listAutoReplies } from "./auto-reply-store.ts";

/** Most automatic replies that are named. */
const MAX_NAMED = 10;

/** A finding for each automatic reply that can reach nobody; a single sound one if there is none. */
export function* checkAutoReplies(): Steps<Finding[]> {
  const findings: Finding[] = [];
  for (const { endpointId, onSince, settings } of yield* listAutoReplies()) {
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
