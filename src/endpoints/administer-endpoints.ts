import { type Actor, type Change, recordChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";
import type { SpamChoices } from "../spam/spam-settings.ts";
import type { Plans } from "../workspaces/workspace.ts";
import { changeSpam, type ChosenScope } from "./choose-spam.ts";
import { createEndpoint, type CreatedEndpoint, type EndpointPlace } from "./create-endpoint.ts";
import { deleteEndpoint, type DeleteContents } from "./delete-endpoint.ts";
import type { Endpoint, EndpointSettings } from "./endpoint.ts";
import { markOrigin } from "./refused-origins.ts";
import { changeSchema, getEndpoint, type NewEndpoint, updateEndpoint } from "./endpoint-store.ts";

/** What people do to endpoints. Each records who did it; null is the command line. */

/** As {@link createEndpoint}. @throws usage, not_found, ambiguous, plan_limit */
export function addEndpoint(
  db: Database,
  actor: Actor | null,
  made: NewEndpoint,
  place: EndpointPlace,
): Promise<CreatedEndpoint> {
  return createEndpoint(db, made, place, (endpoint) =>
    recordChange(actor, changeOf("endpoint.create", endpoint), place.now),
  );
}

/** Changes what is named; the rest stays. @throws usage, not_found */
export function* setEndpoint(
  actor: Actor | null,
  id: string,
  change: { readonly name?: string; readonly settings?: Partial<EndpointSettings> },
  now: number,
): Steps<Endpoint> {
  const endpoint = yield* updateEndpoint(id, change);
  yield* recordChange(actor, changeOf("endpoint.set", endpoint), now);
  return endpoint;
}

/** Says that a refused origin is none of the owner's, or takes that back. @throws not_found if no post of it was refused */
export function* ignoreOriginOf(
  actor: Actor | null,
  endpoint: Endpoint,
  { origin, ignored }: { readonly origin: string; readonly ignored: boolean },
  now: number,
): Steps<void> {
  yield* markOrigin(endpoint.id, origin, ignored);
  const action = ignored ? "endpoint.ignore-origin" : "endpoint.heed-origin";
  yield* recordChange(actor, { ...changeOf(action, endpoint), detail: origin }, now);
}

/** A paused endpoint refuses every post. @throws not_found */
export function* switchEndpoint(
  actor: Actor | null,
  id: string,
  state: Endpoint["state"],
  now: number,
): Steps<Endpoint> {
  const endpoint = yield* updateEndpoint(id, { state });
  const action = state === "paused" ? "endpoint.pause" : "endpoint.resume";
  yield* recordChange(actor, changeOf(action, endpoint), now);
  return endpoint;
}

/**
 * As {@link deleteEndpoint}. It is recorded first: if the server stops in the middle, it is seen who deleted, and deleting again
 * finishes it. @throws not_found
 */
export async function removeEndpoint(
  db: Database,
  { id, actor, now }: { readonly id: string; readonly actor: Actor | null; readonly now: number },
  contents: readonly DeleteContents[],
  pause: () => Promise<void>,
): Promise<Endpoint> {
  await db.transaction(function* () {
    const endpoint = yield* getEndpoint(id);
    yield* recordChange(actor, changeOf("endpoint.delete", endpoint), now);
  });
  return deleteEndpoint(db, id, contents, pause);
}

/** As {@link changeSchema}. @throws not_found, ambiguous, conflict */
export function* setSchema(
  actor: Actor | null,
  reference: string,
  { definition, basedOn }: { readonly definition: SchemaDefinition; readonly basedOn: number | null },
  now: number,
): Steps<Endpoint> {
  const endpoint = yield* changeSchema(reference, definition, now, basedOn);
  yield* recordChange(actor, changeOf("schema.set", endpoint), now);
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

function changeOf(action: Change["action"], { id, workspaceId, name }: Endpoint): Change {
  return { action, subject: id, workspaceId, detail: name };
}
