import type { Steps } from "../database/steps.ts";
import { findEndpoint, readSchema } from "../endpoints/endpoint-store.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { plainText } from "../foundation/plain-text.ts";
import { goneFields } from "../outbox/queue/conditions.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import { listConditioned } from "../outbox/queue/recipient-store.ts";

/** The largest number of recipients that are looked at, and that are named. */
const MAX_LOOKED_AT = 1000;
const MAX_NAMED = 10;

/** A finding for each recipient with a condition on a field that its form has not any more; a single sound one if there is none. */
export function* checkConditionFields(): Steps<Finding[]> {
  const byEndpoint = Map.groupBy(yield* listConditioned(MAX_LOOKED_AT), ({ endpointId }) => endpointId);
  const findings: Finding[] = [];
  for (const [endpointId, recipients] of byEndpoint) {
    if (findings.length < MAX_NAMED) findings.push(...(yield* findGone(endpointId, recipients)));
  }
  return findings.length > 0
    ? findings.slice(0, MAX_NAMED)
    : [sound("notifications.conditions", "every condition is on a field of its form")];
}

function* findGone(endpointId: string, recipients: readonly Recipient[]): Steps<Finding[]> {
  const endpoint = yield* findEndpoint(endpointId);
  if (endpoint === undefined) return [];
  const fields = yield* readSchema(endpoint);
  return recipients.flatMap(({ id, conditions }) => {
    const gone = goneFields(conditions, fields);
    if (gone.length === 0) return [];
    const names = plainText(gone.map((field) => JSON.stringify(field)).join(", "));
    const message = `${plainText(endpoint.name)} (${endpointId}): a condition on ${names} counts as met for a recipient (${id}), because the form has no such field any more`;
    return [problem("notifications.conditions", message, { kind: "change_conditions", recipientId: id })];
  });
}
