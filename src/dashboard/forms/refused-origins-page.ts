import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { allowOrigin, ignoreOrigin, setEndpoint } from "../../endpoints/endpoint-operations.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listReleasable } from "../../submissions/held/held-post.ts";
import { type Answer, redirect } from "../answer.ts";
import { releaseAll } from "../inbox/held-page.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";

const INBOX = "/dashboard";

/** `/dashboard/endpoints/:id/origins`: the actions about a refused site, which the inbox and the form's settings offer. */
export function refusedOriginPages(routes: Routes, parts: DashboardParts): void {
  const allow = async (visit: Visit, origin: string): Promise<Answer> => {
    await visit.perform(allowOrigin, { endpoint: visit.params["id"] ?? "", origin });
    return redirect(backOf(visit), "origin-allowed");
  };
  const ignore = async (visit: Visit, origin: string): Promise<Answer> => {
    await visit.perform(ignoreOrigin, { endpoint: visit.params["id"] ?? "", origin });
    return redirect(backOf(visit), "origin-ignored");
  };
  const heed = async (visit: Visit, origin: string): Promise<Answer> => {
    await visit.perform(setEndpoint, { endpoint: visit.params["id"] ?? "", heed_origins: [origin] });
    return redirect(backOf(visit), "origin-heeded");
  };
  const release = async (visit: Visit, origin: string): Promise<Answer> => {
    const posts = await parts.db.read(function* () {
      const { id } = yield* endpointOf(visit);
      return yield* listReleasable(id, origin);
    });
    return releaseAll(visit, posts, INBOX);
  };

  routes.write("/endpoints/:id/origins", async (visit) => {
    await parts.db.read(() => endpointOf(visit));
    const [verb, origin] = [visit.form.get("do"), visit.form.get("origin") ?? ""];
    if (verb === "allow") return allow(visit, origin);
    if (verb === "ignore") return ignore(visit, origin);
    if (verb === "heed") return heed(visit, origin);
    if (verb === "release") return release(visit, origin);
    throw new FormsvcError("invalid_request", "The form does not say what to do with the site.");
  });
}

/** The page that contained the form. */
function backOf({ params, form }: Visit): string {
  return form.get("from") === "settings" ? `/dashboard/endpoints/${params["id"] ?? ""}` : INBOX;
}

/** @throws not_found */
function endpointOf({ viewer, params }: Visit): Steps<Endpoint> {
  return getViewableEndpoint(viewer, params["id"] ?? "");
}
