import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";
import type { SpamChoices } from "../spam/spam-settings.ts";
import type { Plans } from "../workspaces/workspace.ts";
import { changeSpam, type ChosenScope } from "./choose-spam.ts";
import type { Endpoint } from "./endpoint.ts";
import { changeSchema } from "./endpoint-store.ts";

/** What people do to endpoints. Each records who did it; null is the command line. */

/** As {@link changeSchema}. @throws not_found, ambiguous, conflict */
export function* setSchema(
  actor: Actor | null,
  reference: string,
  { definition, basedOn }: { readonly definition: SchemaDefinition; readonly basedOn: number | null },
  now: number,
): Steps<Endpoint> {
  const endpoint = yield* changeSchema(reference, definition, now, basedOn);
  const { id: subject, workspaceId, name: detail } = endpoint;
  yield* recordChange(actor, { action: "schema.set", subject, workspaceId, detail }, now);
  return endpoint;
}

/** As {@link changeSpam}. @throws plan_limit, not_found */
export function* setSpam(
  actor: Actor | null,
  chosen: ChosenScope,
  { choices, plans }: { readonly choices: SpamChoices; readonly plans: Plans },
  now: number,
): Steps<SpamChoices> {
  const { scope } = chosen;
  const { workspaceId } = scope;
  const subject = scope.kind === "endpoint" ? scope.endpointId : workspaceId;
  yield* recordChange(actor, { action: "spam.set", subject, workspaceId, detail: null }, now);
  return yield* changeSpam(chosen, choices, plans);
}
