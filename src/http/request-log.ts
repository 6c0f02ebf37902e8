import type { FastifyReply, FastifyRequest } from "fastify";
import { requestAnswered } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/** The longest address that a log line shows, in UTF-16 units. */
const MAX_LOGGED_PATH = 200;

/**
 * Called for each request when it is logged. A hook of its own would cost a post several microseconds. `status` is null if the client left.
 */
export type RequestObserver = (route: string | undefined, status: number | null, ms: number) => void;

/**
 * Writes one line for each request when it is answered or its client has left (`status` is null then). Queries, bodies, keys and header
 * values are left out.
 */
export function createRequestLog(
  log: Log,
  observe: RequestObserver,
): (request: FastifyRequest, reply: FastifyReply, ms: number) => void {
  return (request, reply, ms) => {
    const status = reply.raw.writableFinished ? reply.statusCode : null;
    const route = request.routeOptions.url ?? request.flight?.lateRoute;
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

/** A letter, digit, `-`, `_`, `.` or `~` that needs no percent-encoding (RFC 3986, section 2.3) but is encoded, any number of times. */
const NEEDLESSLY_ENCODED = /%(?:25)*(2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi;

/**
 * The address of a letter's link, which contains its token, up to there. Such an address has no route if its method is another one, as that
 * of programs that look into mail, or if a mail program changed it.
 */
const LETTER_LINK = /((?:\/|%(?:25)*2f)mail(?:\/|%(?:25)*2f)+(?:confirm|unsubscribe)(?:\/|%(?:25)*2f)).*/i;

/** The path of an unknown address, decoded so that a key or token in it is recognised and removed. */
function loggedPath(url: string): string {
  const path = (url.split("?")[0] ?? "").replace(NEEDLESSLY_ENCODED, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return path.replace(LETTER_LINK, "$1[redacted]").slice(0, MAX_LOGGED_PATH);
}
