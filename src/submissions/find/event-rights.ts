import { type Access, includesScope, type Scope } from "../../operations/access.ts";
import type { Actor } from "../../operations/actor.ts";
import type { Context } from "../../operations/operation.ts";
import { refusalOf, seesEndpoint, type Standing } from "../../workspaces/standing.ts";
import type { EventJson } from "./event-json.ts";

/** The scope that a token needs to read an event, by the noun of the event's type; null means that no token may read it. */
const SCOPE_OF: Readonly<Record<string, Scope | null>> = {
  autoreply: "recipients:read",
  endpoint: "endpoints:read",
  file: "submissions:read",
  held: "submissions:read",
  key: "endpoints:read",
  mcp: null,
  member: "members:read",
  recipient: "recipients:read",
  schema: "endpoints:read",
  spam: "endpoints:read",
  submission: "submissions:read",
  token: null,
  webhook: "recipients:read",
  workspace: "workspace:read",
};

/** The access that a member needs to read an event, by the noun of its type. Any other event needs only access to the workspace. */
const ACCESS_OF: Readonly<Record<string, Access | null>> = {
  autoreply: "recipients:read",
  key: "keys:read",
  member: "members:read",
  recipient: "recipients:read",
  token: "tokens",
  webhook: "recipients:read",
};

/**
 * The event as the caller may read it; null if they may not. The e-mail address of another account is left out unless they may see members.
 *
 * @param standing null if the event belongs to no workspace, or its workspace was deleted
 */
export function eventFor(context: Context, standing: Standing | null, event: EventJson): EventJson | null {
  const { actor } = context;
  if (!mayTokenRead(context, event) || !mayMemberRead(standing, event)) return null;
  const own = actor.kind === "token" ? (actor.account?.accountId ?? null) : null;
  const isOthers = event.actor.kind === "account" && event.actor.id !== own;
  if (!isOthers || seesMembers(actor, standing)) return event;
  return { ...event, actor: { ...event.actor, name: null } };
}

/** Whether the token, if there is one, allows the event. A token that is bound to one endpoint reads only events about that endpoint. */
function mayTokenRead({ actor, viewing }: Context, { type, ids }: EventJson): boolean {
  const only = viewing.reach?.endpointId ?? null;
  if (only !== null && !ids.includes(only)) return false;
  if (actor.kind !== "token") return true;
  const scope = ofNoun(SCOPE_OF, type, "operator");
  return scope !== null && includesScope(actor.scopes, scope);
}

/** Whether a member's role allows the event. If the member sees only some endpoints, the event must be about one of them. */
function mayMemberRead(standing: Standing | null, { type, ids }: EventJson): boolean {
  if (standing === null) return true;
  const access = ofNoun(ACCESS_OF, type, null);
  if (access !== null && refusalOf(standing, access) !== null) return false;
  return standing.endpoints === null || ids.some((id) => seesEndpoint(standing, id));
}

/** The value for the noun of an event's type: that of `endpoint.set` is `endpoint`. */
function ofNoun<Value>(values: Readonly<Record<string, Value>>, type: string, other: Value): Value {
  const noun = type.split(".", 1)[0] ?? "";
  return Object.hasOwn(values, noun) ? (values[noun] as Value) : other;
}

function seesMembers(actor: Actor, standing: Standing | null): boolean {
  if (actor.kind === "token" && !includesScope(actor.scopes, "members:read")) return false;
  return standing === null || refusalOf(standing, "members:read") === null;
}
