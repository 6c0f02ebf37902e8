import type { FastifyInstance } from "fastify";
import { requestAnswered } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/** Longest address that a log line shows. */
const MAX_LOGGED_PATH = 200;

/**
 * One line a request, when it is answered or its client has left: `status` is null then. Queries, bodies, keys and
 * header values are left out.
 */
export function logRequests(server: FastifyInstance, log: Log): void {
  server.addHook("onRequest", (request, reply, done) => {
    const startedAt = performance.now();
    reply.raw.once("close", () =>
      requestAnswered(log, {
        reqId: request.id,
        method: request.method,
        path: loggedPath(request.routeOptions.url ?? request.url),
        status: reply.raw.writableFinished ? reply.statusCode : null,
        ms: Math.round((performance.now() - startedAt) * 100) / 100,
      }),
    );
    done();
  });
}

/** A route's own pattern, or for an unknown address its path. */
function loggedPath(url: string): string {
  return (url.split("?")[0] ?? "").slice(0, MAX_LOGGED_PATH);
}
