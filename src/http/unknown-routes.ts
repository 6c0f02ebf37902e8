import type { FastifyInstance } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import { allowAnyOrigin } from "./cors.ts";
import { answerFront, isForFront } from "./visitors/front-page.ts";
import type { LatePart } from "./late-routes.ts";

/**
 * Answers 405 with `Allow` if the address has a route for other methods, else 404. The body is not read. A browser that requests `/` is
 * redirected to the late routes.
 *
 * @param late the late routes, which have addresses of their own
 */
export function answerUnknownRoutes(server: FastifyInstance, late: readonly LatePart[]): void {
  const routes: { readonly segments: readonly string[]; readonly methods: readonly string[] }[] = [];
  server.addHook("onRoute", ({ url, method }) => {
    routes.push({ segments: url.split("/"), methods: [method].flat() });
  });
  server.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request.url);
    const part = late.find((each) => each.has(path));
    if (part !== undefined) return part.answer(request, reply, done);
    if (isForFront(request, path)) {
      const fronts = late.map((each) => each.frontFor(request.clientAddress, request.headers.host));
      return void answerFront(request, reply, fronts.find((front) => front !== null) ?? null);
    }
    allowAnyOrigin(reply);
    const asked = path.split("/");
    const methods = routes.filter(({ segments }) => fits(asked, segments)).flatMap(({ methods }) => methods);
    if (methods.length === 0) return done(new FormsvcError("not_found", "There is nothing at this address."));
    const allow = [...new Set(methods)].sort().join(", ");
    reply.header("allow", allow);
    return done(new FormsvcError("method_not_allowed", `This address takes ${allow} only.`));
  });
}

/** The path of an address as the router reads it: without scheme, host, query and fragment, and decoded except for separators. */
function pathOf(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]+/i, "").split(/[?#]/, 1)[0] ?? "";
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function fits(path: readonly string[], segments: readonly string[]): boolean {
  return (
    path.length === segments.length &&
    segments.every((segment, index) => segment.startsWith(":") || segment === path[index])
  );
}
