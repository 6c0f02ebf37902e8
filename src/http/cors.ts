import type { FastifyReply } from "fastify";
import { isOriginAllowed } from "../endpoints/allowed-origin.ts";
import type { ReadyEndpoint } from "../endpoints/endpoint-directory.ts";
import { DAY_SECONDS } from "../foundation/time-units.ts";

/** Headers that a page's script may read besides the few that browsers always show. */
const EXPOSED_HEADERS =
  "Retry-After, X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Formsvc-Notice";
const PREFLIGHT_SECONDS = DAY_SECONDS;

/** Lets any page read the answer. This holds until the endpoint is known, and for a page whose origin is refused. */
export function allowAnyOrigin(reply: FastifyReply): FastifyReply {
  return reply
    .header("access-control-allow-origin", "*")
    .header("access-control-expose-headers", EXPOSED_HEADERS);
}

/** Called when the endpoint is known. If it lists origins, only pages of these origins may read the answer. */
export function allowEndpointOrigin(
  reply: FastifyReply,
  { endpoint }: ReadyEndpoint,
  origin: string | undefined,
): void {
  const { allowedOrigins } = endpoint.settings;
  if (allowedOrigins.length === 0) return;
  reply.header("vary", "Origin");
  if (origin !== undefined && isOriginAllowed(origin, allowedOrigins)) {
    reply.header("access-control-allow-origin", origin);
  }
}

/** Answers a preflight. It carries no key, so the answer cannot depend on the endpoint. Browsers may cache it for a day. */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  allowAnyOrigin(reply);
  return reply
    .header("access-control-allow-methods", "POST")
    .header("access-control-allow-headers", "Authorization, Content-Type, Idempotency-Key")
    .header("access-control-max-age", PREFLIGHT_SECONDS)
    .code(204)
    .send();
}
