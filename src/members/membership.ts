import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { listEndpoints, reachEndpoint } from "../endpoints/endpoint-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Asking } from "../workspaces/reach.ts";
import type { Membership } from "../workspaces/member-store.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import { roleShape } from "./member-json.ts";

/** The largest number of endpoints that a member may be bound to. */
export const MAX_BOUND = 100;

/** The input members that say what a member may do. */
export const membershipInput = {
  endpoints: z
    .array(z.string())
    .min(1)
    .max(MAX_BOUND)
    .readonly()
    .nullable()
    .optional()
    .describe("Ids or names of the only endpoints that the member sees; null is all. Owners always see all."),
  export: z
    .boolean()
    .optional()
    .describe("Whether the member may export posts. It can be switched off for readers only."),
  spam_details: z
    .boolean()
    .optional()
    .describe(
      "Whether the member sees the reasons for spam scores. It can be switched off for readers only.",
    ),
};

/** What a member may do besides the role's rights, if nothing else is given. */
export const EVERYTHING: Omit<Membership, "role"> = {
  endpoints: null,
  mayExport: true,
  seesSpamDetails: true,
};

const asked = z.strictObject({ ...membershipInput, role: roleShape.optional() });
type Asked = z.output<typeof asked>;

/**
 * Applies the asked changes to a membership. An owner always sees everything; the switches are only for readers.
 *
 * @throws usage; not_found or ambiguous for an endpoint.
 */
export function* changeMembership(
  asking: Asking,
  workspace: Workspace,
  before: Membership,
  { role = before.role, endpoints, export: mayExport, spam_details: seesSpamDetails }: Asked,
): Steps<Membership> {
  if (role === "owner" && (endpoints ?? null) !== null)
    throw new FormsvcError("usage", "an owner sees every form of the workspace; name no endpoint");
  if (role !== "reader" && (mayExport === false || seesSpamDetails === false))
    throw new FormsvcError("usage", "export and spam details are switched off for readers only");
  const kept = role === "owner" ? null : before.endpoints;
  const isReader = role === "reader";
  return {
    role,
    endpoints: endpoints === undefined ? kept : endpoints && (yield* idsOf(asking, workspace, endpoints)),
    mayExport: !isReader || (mayExport ?? before.mayExport),
    seesSpamDetails: !isReader || (seesSpamDetails ?? before.seesSpamDetails),
  };
}

function* idsOf(
  asking: Asking,
  { id: workspace }: Workspace,
  references: readonly string[],
): Steps<string[]> {
  const ids = new Set<string>();
  for (const endpoint of references) ids.add((yield* reachEndpoint(asking, { endpoint, workspace })).id);
  return [...ids];
}

/** The names of the endpoints that a member is bound to; a deleted endpoint is left out. Null means all endpoints. */
export function* namesOf(workspaceId: string, endpoints: readonly string[] | null): Steps<string[] | null> {
  if (endpoints === null) return null;
  const all = yield* listEndpoints(workspaceId);
  return all.filter(({ id }) => endpoints.includes(id)).map(({ name }) => name);
}

/** The membership in words for the record of changes, like `reader of 2 endpoints without export`. */
export function describeMembership({ role, endpoints, mayExport, seesSpamDetails }: Membership): string {
  const of =
    endpoints === null
      ? ""
      : ` of ${endpoints.length === 1 ? "1 endpoint" : `${endpoints.length} endpoints`}`;
  const without = [...(mayExport ? [] : ["export"]), ...(seesSpamDetails ? [] : ["spam details"])];
  return `${role}${of}${without.length === 0 ? "" : ` without ${without.join(" and ")}`}`;
}
