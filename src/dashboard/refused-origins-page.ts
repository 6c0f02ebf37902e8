import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { allowOrigin, ignoreOrigin } from "../endpoints/endpoint-operations.ts";
import { getViewableEndpoint } from "../endpoints/endpoint-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { listReleasable } from "../submissions/held-post.ts";
import { type Answer, redirect } from "./answer.ts";
import { releaseAll } from "./held-page.ts";
import type { DashboardParts } from "./parts.ts";
import type { Routes, Visit } from "./routes.ts";

const INBOX = "/dashboard";

/** `/dashboard/endpoints/:id/origins`: what the inbox's line about a refused site does. */
export function refusedOriginPages(routes: Routes, parts: DashboardParts): void {
  const allow = async ({ perform, params }: Visit, origin: string): Promise<Answer> => {
    await perform(allowOrigin, { endpoint: params["id"] ?? "", origin });
    return redirect(INBOX, "origin-allowed");
  };
  const ignore = async ({ perform, params }: Visit, origin: string): Promise<Answer> => {
    await perform(ignoreOrigin, { endpoint: params["id"] ?? "", origin });
    return redirect(INBOX, "origin-ignored");
  };
  const release = async (visit: Visit, origin: string): Promise<Answer> => {
    const posts = await parts.db.read(function* () {
      const { id } = yield* endpointOf(visit);
      return yield* listReleasable(id, origin);
    });
    return releaseAll(parts, visit, posts, INBOX);
  };

  routes.write("/endpoints/:id/origins", async (visit) => {
    await parts.db.read(() => endpointOf(visit));
    const [verb, origin] = [visit.form.get("do"), visit.form.get("origin") ?? ""];
    if (verb === "allow") return allow(visit, origin);
    if (verb === "ignore") return ignore(visit, origin);
    if (verb === "release") return release(visit, origin);
    throw new FormsvcError("invalid_request", "The form does not say what to do with the site.");
  });
}

/** @throws not_found */
function endpointOf({ viewer, params }: Visit): Steps<Endpoint> {
  return getViewableEndpoint(viewer, params["id"] ?? "");
}
