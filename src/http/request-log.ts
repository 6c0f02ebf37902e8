import type { FastifyReply, FastifyRequest } from "fastify";
import { requestAnswered } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/** Longest address that a log line shows. */
const MAX_LOGGED_PATH = 200;

/** Told of each request beside the log, in the same place: a hook of its own would cost a post several microseconds. */
export type RequestObserver = (route: string | undefined, status: number | null, ms: number) => void;

/**
 * Writes one line a request, when it is answered or its client has left: `status` is null then. Queries, bodies, keys and
 * header values are left out.
 */
export function createRequestLog(
  log: Log,
  observe: RequestObserver,
): (request: FastifyRequest, reply: FastifyReply, ms: number) => void {
  return (request, reply, ms) => {
    const status = reply.raw.writableFinished ? reply.statusCode : null;
    const route = request.routeOptions.url;
    observe(route, status, ms);
    requestAnswered(log, {
      reqId: request.id,
      method: request.method,
      path: loggedPath(route ?? request.url),
      status,
      ms: Math.round(ms * 100) / 100,
    });
  };
}

/** A route's own pattern, or for an unknown address its path. */
function loggedPath(url: string): string {
  return (url.split("?")[0] ?? "").slice(0, MAX_LOGGED_PATH);
}
