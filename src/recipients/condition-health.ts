import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { findEndpoint, readSchema } from "../endpoints/endpoint-store.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { plainText } from "../foundation/plain-text.ts";
import { goneFields } from "../outbox/queue/conditions.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import { listConditioned } from "../outbox/queue/recipient-store.ts";

/** The largest number of recipients that are looked at. */
const MAX_LOOKED_AT = 1000;
const MAX_NAMED = 10;

/** A recipient with conditions on fields that its form no longer has; they count as met. */
export interface GoneCondition {
  readonly recipient: Recipient;
  readonly endpoint: Endpoint;
  /** The names of these fields; not empty. */
  readonly fields: readonly string[];
}

/** Up to `limit` recipients. @param endpointIds null means every endpoint. */
export function* listGoneConditions(
  endpointIds: readonly string[] | null,
  limit: number,
): Steps<GoneCondition[]> {
  const recipients = yield* listConditioned(endpointIds, MAX_LOOKED_AT);
  const found: GoneCondition[] = [];
  for (const [endpointId, several] of Map.groupBy(recipients, (each) => each.endpointId)) {
    if (found.length < limit) found.push(...(yield* findGone(endpointId, several)));
  }
  return found.slice(0, limit);
}

function* findGone(endpointId: string, recipients: readonly Recipient[]): Steps<GoneCondition[]> {
  const endpoint = yield* findEndpoint(endpointId);
  if (endpoint === undefined) return [];
  const schema = yield* readSchema(endpoint);
  return recipients.flatMap((recipient) => {
    const fields = goneFields(recipient.conditions, schema);
    return fields.length === 0 ? [] : [{ recipient, endpoint, fields }];
  });
}

/** A finding for each recipient with a condition on a field that its form no longer has. If there is none, a single sound finding. */
export function* checkConditionFields(): Steps<Finding[]> {
  const gone = yield* listGoneConditions(null, MAX_NAMED);
  return gone.length > 0
    ? gone.map(goneProblem)
    : [sound("notifications.conditions", "every condition is on a field of its form")];
}

function goneProblem({ recipient: { id }, endpoint, fields }: GoneCondition): Finding {
  const names = plainText(fields.map((field) => JSON.stringify(field)).join(", "));
  const message = `${plainText(endpoint.name)} (${endpoint.id}): a condition on ${names} counts as met for a recipient (${id}), because the form has no such field any more`;
  return problem("notifications.conditions", message, { kind: "change_conditions", recipientId: id });
}
