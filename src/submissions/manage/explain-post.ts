import type { Steps } from "../../database/steps.ts";
import { type EndpointRules, readReady } from "../../endpoints/endpoint-directory.ts";
import { noEndpoint } from "../../endpoints/endpoint-store.ts";
import { createSpamMemory } from "../../history/spam-memory.ts";
import type { ValidationDetails } from "../../schemas/issue-report.ts";
import { scoreSpam } from "../../spam/score-spam.ts";
import { readBody } from "../../spam/spam-post.ts";
import type { SpamVerdict } from "../../spam/spam-verdict.ts";
import type { JsonObject } from "../receive/parse-body.ts";

export interface Explained {
  readonly verdict: SpamVerdict;
  /** The fields for which the server would refuse the post, each with sentences that say what is wrong. */
  readonly unfit: readonly { readonly field: string; readonly problems: readonly string[] }[];
}

/**
 * Scores a post as the server would score a post to this endpoint: with its settings and the memory of its workspace, but without facts
 * about the client. Nothing is stored or remembered.
 *
 * @throws not_found
 */
export function* explainPost(
  rules: EndpointRules,
  endpointId: string,
  body: JsonObject,
  now: number,
): Steps<Explained> {
  const ready = yield* readReady(endpointId, rules);
  if (ready === undefined) throw noEndpoint(endpointId);
  const { endpoint, schema, honeypots, spam } = ready;
  const raw = readBody(body, honeypots, schema.definition, null);
  const checked = schema.validate(raw.fields);
  const post = checked.ok ? { ...raw, fields: checked.data } : raw;
  const { history } = yield* createSpamMemory(null).recall(endpoint.workspaceId, endpointId, post, now);
  const verdict = scoreSpam(post, spam, history);
  // A post with a filled honeypot is refused as spam, so that the robot learns nothing about the schema.
  const isTrapped = raw.honeypots.length > 0 && verdict.spamClass === "blocked";
  return { verdict, unfit: checked.ok || isTrapped ? [] : unfitFields(checked.details) };
}

function unfitFields(details: ValidationDetails): Explained["unfit"] {
  return Object.entries(details).map(([field, { issues }]) => ({
    field,
    problems: issues.map(({ message }) => message),
  }));
}
