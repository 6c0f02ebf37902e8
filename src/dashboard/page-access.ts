import type { FastifyRequest } from "fastify";
import type { Steps } from "../database/steps.ts";
import { findReachableEndpoint } from "../endpoints/endpoint-store.ts";
import { isId } from "../foundation/id.ts";
import type { Access } from "../operations/access.ts";
import { findEndpointIdOf } from "../outbox/queue/recipient-store.ts";
import type { Viewer } from "../sessions/session.ts";
import { findHeldPost } from "../submissions/held/held-post.ts";
import { findSubmission } from "../submissions/stored/submission-store.ts";
import { findStanding, requireAnywhere, requireForWhole } from "../workspaces/standing.ts";

/** The access that it takes to read a page and to send its forms; null leaves the decision to the operations. */
interface PageAccess {
  readonly read: Access | null;
  readonly write: Access | null;
}

const both = (access: Access): PageAccess => ({ read: access, write: access });
const recipients: PageAccess = { read: "recipients:read", write: "recipients:write" };

/**
 * The access by the beginning of the route; the first one that matches counts. It is checked before a form is shown or read, so that nobody
 * fills a form in vain. The operation decides in the end.
 */
const PAGES: readonly (readonly [path: string, access: PageAccess])[] = [
  ["/endpoints/new", both("endpoints:create")],
  ["/endpoints/:id/keys", { read: "keys:read", write: "endpoints:write" }],
  ["/endpoints/:id/reply", recipients],
  ["/endpoints/:id/delete", both("endpoints:delete")],
  ["/endpoints/:id/move", both("endpoints:move")],
  ["/endpoints/:id/import", both("submissions:import")],
  ["/endpoints/:id", both("endpoints:write")],
  ["/submissions/:id/add-field", both("endpoints:write")],
  ["/submissions/:id/replay", both("recipients:write")],
  ["/submissions/:id/files", { read: null, write: "submissions:write" }],
  ["/submissions/:id/notes", both("submissions:write")],
  ["/held", { read: null, write: "held:write" }],
  ["/notifications", both("recipients:read")],
  ["/recipients", recipients],
  ["/webhooks", recipients],
  ["/replies", recipients],
  ["/spam/workspaces/:id", both("workspace:spam")],
  ["/spam", both("endpoints:write")],
  ["/usage", both("workspace:usage")],
  ["/members", both("members:read")],
  ["/workspaces/:id/members", both("members:write")],
  ["/workspaces/:id/leave", both("members:leave")],
  ["/workspaces/:id/export", both("workspace:export")],
  ["/workspaces/:id/transfer", both("workspace:transfer")],
  ["/workspaces/:id/delete", both("workspace:delete")],
  ["/workspaces/:id", both("workspace:write")],
  ["/export", both("submissions:export")],
  ["/choose-export", both("submissions:export")],
];

/** The access that a request's page needs; null if no rule matches. */
export function accessOf({ routeOptions, method }: FastifyRequest): Access | null {
  const path = (routeOptions.url ?? "").replace(/^\/dashboard/, "");
  const page = PAGES.find(([begin]) => path === begin || new RegExp(`^${begin}[/.]`).test(path));
  if (page === undefined) return null;
  return method === "GET" || method === "HEAD" ? page[1].read : page[1].write;
}

/**
 * Checks that the viewer's role is enough for the row that a page is about, or in any workspace if the page names no row. A row that the
 * viewer does not see passes: the page answers that it does not exist.
 *
 * @throws forbidden naming the role
 */
export function* requireOnPage(
  viewer: Viewer,
  access: Access,
  params: Readonly<Record<string, string>>,
): Steps<void> {
  const { id } = params;
  if (id === undefined) {
    yield* requireAnywhere(viewer, access);
  } else if (isId("ws", id)) {
    const standing = yield* findStanding(viewer, id);
    if (standing !== null) requireForWhole(standing, access);
  } else {
    const endpointId = yield* endpointIdOf(id);
    if (endpointId !== undefined) yield* findReachableEndpoint({ viewing: viewer, access }, endpointId);
  }
}

function* endpointIdOf(id: string): Steps<string | undefined> {
  if (isId("ep", id)) return id;
  if (isId("sub", id)) return (yield* findSubmission(id))?.endpointId;
  if (isId("held", id)) return (yield* findHeldPost(id))?.endpointId;
  return yield* findEndpointIdOf(id);
}
