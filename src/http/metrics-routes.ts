import { createHash, timingSafeEqual } from "node:crypto";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import type { Log } from "../foundation/log.ts";
import { type ExposedMetrics, LATENCY_BUCKETS, type Metrics } from "../foundation/metrics.ts";
import { sendError } from "./error-reply.ts";
import type { RequestObserver } from "./request-log.ts";

/** `GET /metrics`. */
export function metricsRoutes(server: FastifyInstance, metrics: ExposedMetrics): void {
  server.get("/metrics", async (request, reply) => {
    if (metrics.token !== null) requireToken(request, metrics.token);
    return reply.header("content-type", metrics.contentType).send(await metrics.render());
  });
}

/** The largest number of scrapers at once. Further connections are closed at once. */
const MAX_SCRAPERS = 16;
const SCRAPE_TIMEOUT_MS = 10_000;

/**
 * A server for `/metrics` alone, which does not listen yet. Each connection carries one request, because scrapers come every few seconds.
 * So a client that sends thousands of requests at once gets one answer.
 */
export function createMetricsServer(metrics: ExposedMetrics, log: Log): FastifyInstance {
  const server = fastify({
    maxRequestsPerSocket: 1,
    forceCloseConnections: true,
    requestTimeout: SCRAPE_TIMEOUT_MS,
    connectionTimeout: SCRAPE_TIMEOUT_MS,
    http: { headersTimeout: SCRAPE_TIMEOUT_MS },
  });
  server.server.maxConnections = MAX_SCRAPERS;
  server.removeAllContentTypeParsers();
  server.setErrorHandler((error, request, reply) => sendError({ request, reply, log }, error, 0));
  server.setNotFoundHandler(() => {
    throw new FormsvcError("not_found", "This address serves /metrics only.");
  });
  metricsRoutes(server, metrics);
  return server;
}

/** Measures how long each route takes to answer, by status. A client that left before its answer counts as `none`. */
export function measureRequests(metrics: Metrics): RequestObserver {
  const observe = metrics.histogram(
    "formsvc_http_request_duration_seconds",
    "Time from a request's headers to the end of its answer.",
    LATENCY_BUCKETS,
    ["route", "status"],
  );
  return (route, status, ms) => observe(ms / 1000, route ?? "none", String(status ?? "none"));
}

function requireToken(request: FastifyRequest, token: string): void {
  const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  if (timingSafeEqual(digest(given), digest(token))) return;
  throw new FormsvcError(
    "unauthorized",
    "The token of metrics.token is required: Authorization: Bearer TOKEN.",
  );
}

/** A hash of the token, because the comparison in constant time needs equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
