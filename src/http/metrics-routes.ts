import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { type ExposedMetrics, LATENCY_BUCKETS, type Metrics } from "../foundation/metrics.ts";
import type { RequestObserver } from "./request-log.ts";

/** `GET /metrics`. */
export function metricsRoutes(server: FastifyInstance, metrics: ExposedMetrics): void {
  server.get("/metrics", async (request, reply) => {
    if (metrics.token === null) requireLoopback(request);
    else requireToken(request, metrics.token);
    return reply.header("content-type", metrics.contentType).send(await metrics.render());
  });
}

/** How long each route takes to answer, by status; a client that left before its answer counts as `none`. */
export function measureRequests(metrics: Metrics): RequestObserver {
  const observe = metrics.histogram(
    "formsvc_http_request_duration_seconds",
    "Time from a request's headers to the end of its answer.",
    LATENCY_BUCKETS,
    ["route", "status"],
  );
  return (route, status, ms) => observe(ms / 1000, route ?? "none", String(status ?? "none"));
}

const LOOPBACK = compileNetworks(["127.0.0.0/8", "::1"]);
/** A proxy on this machine connects from loopback too, for whomever; it says so with one of these. */
const PROXY_HEADERS = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];

function requireLoopback(request: FastifyRequest): void {
  const isLocal = LOOPBACK.contains(request.socket.remoteAddress ?? "");
  if (isLocal && PROXY_HEADERS.every((name) => request.headers[name] === undefined)) return;
  throw new FormsvcError(
    "forbidden",
    "Without metrics.token, metrics are shown on the machine itself only, not through a proxy.",
  );
}

function requireToken(request: FastifyRequest, token: string): void {
  const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  if (timingSafeEqual(digest(given), digest(token))) return;
  throw new FormsvcError(
    "unauthorized",
    "The token of metrics.token is required: Authorization: Bearer TOKEN.",
  );
}

/** Of equal length whatever was sent, as the comparison needs it. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
