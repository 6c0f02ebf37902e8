import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { Crowd } from "../files/spool-room.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Log } from "../foundation/log.ts";
import { type ExposedMetrics, noMetrics } from "../foundation/metrics.ts";
import type { Gatekeeper } from "../submissions/receive/authenticate.ts";
import { browserClientRoutes } from "./forms/browser-client-routes.ts";
import { challengeRoutes, type ChallengeRoutesParts } from "./forms/challenge-routes.ts";
import type { ProxyTrust } from "./client-address.ts";
import { allowAnyOrigin } from "./cors.ts";
import { sendCodedError, sendError } from "./error-reply.ts";
import { fileRoutes, type FileRoutesParts } from "./file-routes.ts";
import { formRoutes, type FormRoutesParts } from "./forms/form-routes.ts";
import { type HealthRoutesParts, healthRoutes } from "./health-routes.ts";
import { followRequests, type InFlight } from "./connections/in-flight.ts";
import { type CreateInstance, createLatePart, type LateRoutes } from "./late-routes.ts";
import { type MailLinkParts, mailLinkRoutes } from "./mail-link-routes.ts";
import { measureRequests, metricsRoutes } from "./metrics-routes.ts";
import { createRequestLog, type RequestObserver } from "./request-log.ts";
import { followAsked, refuseSocket, SLOW_REQUEST } from "./connections/socket-errors.ts";
import { createShares, type Holdings } from "./connections/shares.ts";
import { type BodyPaces, endSlowBodies, steadyTimeoutMs } from "./connections/slow-bodies.ts";
import { boundPieces, SMALL_PIECES } from "./connections/small-pieces.ts";
import { openapiRoutes } from "./openapi-routes.ts";
import type { PostParts } from "./posts/receive-post.ts";
import { type SubmissionRoutesParts, submissionRoutes } from "./submission-routes.ts";
import { submitRoutes } from "./posts/submit-routes.ts";
import { answerUnknownRoutes } from "./unknown-routes.ts";

interface ServerLimits extends BodyPaces {
  readonly bodyLimitBytes: number;
}

/** What every server needs to guard its requests, whatever its routes are. */
export interface GuardParts extends ProxyTrust {
  readonly limits: ServerLimits;
  readonly log: Log;
  /** The id of the request's secret key, if this process proved that key earlier; else null. */
  readonly provenKeyOf: (request: FastifyRequest) => string | null;
  /** Whether the server is stopping and accepts no new requests. */
  readonly isDraining: () => boolean;
  /** Called for each request that has ended. */
  readonly observe: RequestObserver;
  /** Routes that are added only after the server listens. */
  readonly late: readonly LateRoutes[];
}

export interface ServerParts
  extends
    Omit<PostParts, "bodyLimitBytes">,
    Pick<FormRoutesParts, "onPageFault">,
    ChallengeRoutesParts,
    SubmissionRoutesParts,
    FileRoutesParts,
    HealthRoutesParts,
    MailLinkParts,
    Omit<GuardParts, "observe" | "provenKeyOf"> {
  /** The address that clients use; null if only the socket's address is known. */
  readonly baseUrl: string | null;
  /** Null means that nothing is measured. Without a token, `/metrics` is not among the routes. */
  readonly metrics: ExposedMetrics | null;
}

/** The largest number of bytes of a request's headers; a request with more is answered 431 (docs/errors.md). */
const MAX_HEADER_BYTES = 16_384;
/**
 * The largest number of headers that fit into {@link MAX_HEADER_BYTES}: each has a letter, a colon and a line end. Node's own limit is a
 * thousand.
 */
const MAX_HEADER_LINES = MAX_HEADER_BYTES / 4;
/** The largest number of open sockets, each some 13 KB when idle. Further connections are closed at once. */
const MAX_SOCKETS = 2048;
/**
 * The largest number of requests whose bodies have arrived and that have no answer yet. Further ones are answered 503. Node accepts one new
 * connection in each turn of its event loop, and each of these requests may make the next turn longer: with 768 of them a new client waited
 * for more than ten seconds.
 */
const MAX_BEING_ANSWERED = 256;
/** The largest number of requests at once, most of them with a body that arrives slowly. Further ones are answered 503. */
const MAX_REQUESTS = 512;
/** The largest number of bytes of bodies under way, by their announced length: {@link MAX_REQUESTS} bodies of the usual largest size. */
const MAX_BODY_BYTES = 33_554_432;
/** The number of bodies of the largest allowed size that fit in any case: two for each client. */
const MIN_WHOLE_BODIES = 16;
/** The largest number of bytes of answers that clients have not taken yet. */
const MAX_ANSWER_BYTES = 33_554_432;
/** Longer than the usual 60 s of a proxy's connection pool, so that the proxy closes a connection first. */
const KEEP_ALIVE_MS = 65_000;
/**
 * The longest time until the headers have arrived. Only the body of a slow request takes long: headers of 16 KiB over the slowest phone are
 * rare.
 */
const HEADERS_TIMEOUT_MS = 10_000;
/** A client that takes nothing of its answer for this time is cut off. Posts wait for at most a few seconds. */
const MAX_STILL_MS = 60_000;
/** Time between two searches for slow requests. So a limit is enforced at most this much late. */
const TIMEOUT_CHECK_MS = 500;

/** The HTTP server with every route. It does not listen yet. */
export function createServer(parts: ServerParts): FastifyInstance {
  const { limits } = parts;
  const server = createGuardedServer({
    ...parts,
    observe: measureRequests(parts.metrics ?? noMetrics),
    provenKeyOf: secretKeysOf(parts.gatekeeper),
  });
  for (const event of ["connection", "drop"]) server.server.on(event, () => parts.intake.expectPost());
  openapiRoutes(server, parts.baseUrl);
  const posts = { ...parts, bodyLimitBytes: limits.bodyLimitBytes };
  server.decorateRequest("begun", null);
  server.decorateRequest("saidLanguage", undefined);
  submitRoutes(server, posts);
  formRoutes(server, posts);
  challengeRoutes(server, parts);
  submissionRoutes(server, parts);
  fileRoutes(server, parts);
  browserClientRoutes(server);
  healthRoutes(server, parts);
  mailLinkRoutes(server, parts);
  if (parts.metrics !== null && parts.metrics.token !== null) metricsRoutes(server, parts.metrics);
  return server;
}

function secretKeysOf(gatekeeper: Gatekeeper): GuardParts["provenKeyOf"] {
  return ({ headers: { authorization }, clientAddress }) => {
    if (authorization === undefined) return null;
    const key = gatekeeper.recall(authorization, clientAddress)?.key;
    return key?.kind === "secret" ? key.id : null;
  };
}

/** No route has a schema of the framework. Without this, the framework's own compilers for them would take 8 ms of each start. */
const WITHOUT_SCHEMAS = {
  compilersFactory: { buildValidator: compilesNothing, buildSerializer: compilesNothing },
};

function compilesNothing(): never {
  throw new Error("no route has a schema of the framework");
}

/**
 * A server without routes. It bounds connections, sizes and times, shares its slots among clients, and answers every error. Routes are
 * added before it listens.
 */
export function createGuardedServer(parts: GuardParts): FastifyInstance {
  const { limits, log } = parts;
  const nextId = createRequestIds();
  const lastAsked = followAsked();
  const server = createInstance(parts, {
    requestTimeout: Math.max(steadyTimeoutMs(limits.requestTimeoutMs), limits.uploadTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: MAX_STILL_MS,
    genReqId: (request) => givenId(request) ?? nextId(),
    clientErrorHandler: (error, socket) => refuseSocket(error, socket, lastAsked.on(socket), { log, nextId }),
    // If an address cannot be decoded, the request fails before any hook runs.
    frameworkErrors: (error, request, reply) => {
      lastAsked.note(request, reply);
      allowAnyOrigin(reply.header("x-request-id", request.id));
      void sendError({ request, reply, log }, error, limits.bodyLimitBytes);
    },
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(limits.requestTimeoutMs, HEADERS_TIMEOUT_MS),
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Otherwise Node answers a request without Host by itself, with an empty body.
      requireHostHeader: false,
      IncomingMessage: boundPieces((socket) =>
        refuseSocket({ code: SMALL_PIECES }, socket, lastAsked.on(socket), { log, nextId }),
      ),
    },
  });
  configureNode(server.server);
  answerForNode(server.server, (socket) => refuseSocket({ code: "CONNECT" }, socket, null, { log, nextId }));
  server.addHook("onRequest", (request, reply, done) => {
    lastAsked.note(request, reply);
    done();
  });
  const requestLog = createRequestLog(log, parts.observe);
  const inFlight = followRequests(server, {
    ...parts,
    shares: createShares(holdingsFor(limits)),
    bodyLimitBytes: limits.bodyLimitBytes,
    onEnd(request, reply, ms) {
      lastAsked.forgetWhole(request);
      requestLog(request, reply, ms);
    },
  });
  guardRequests(server, parts, inFlight);
  endSlowBodies(server, inFlight, limits, (socket) =>
    refuseSocket({ code: SLOW_REQUEST }, socket, lastAsked.on(socket), { log, nextId }),
  );
  const late = parts.late.map((routes) =>
    createLatePart(server, routes, inFlight, latePartOf(parts, routes)),
  );
  answerUnknownRoutes(server, late);
  return server;
}

/** An instance of the framework that reads JSON bodies unparsed and answers errors in our form. */
function createInstance(
  { limits, log }: GuardParts,
  options: FastifyHttpOptions<Server>,
  answerError = sendError,
): FastifyInstance {
  const instance = fastify({
    ...options,
    bodyLimit: limits.bodyLimitBytes,
    return503OnClosing: false,
    requestIdHeader: false,
    schemaController: WITHOUT_SCHEMAS,
    // An instance of late routes ends when the server's last answer has ended, however long that takes.
    pluginTimeout: 0,
    // No limit on the length of a parameter: a long key is unknown like any other.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  });
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
  instance.setErrorHandler((error, request, reply) =>
    answerError({ request, reply, log }, error, limits.bodyLimitBytes),
  );
  return instance;
}

function latePartOf(parts: GuardParts, { hasCodes }: LateRoutes): CreateInstance {
  return (genReqId, takeOver) => {
    const instance = createInstance(parts, { genReqId }, hasCodes ? sendCodedError : sendError);
    instance.addHook("onRequest", takeOver);
    answerUnknownRoutes(instance, []);
    return instance;
  };
}

/**
 * The bytes that a client may send before it hears from the server: ten segments (RFC 6928). A refused body of at most this size is read to
 * its end, so that the answer arrives.
 */
const SMALL_BODY_BYTES = 14_600;

const CROWDED: Readonly<Record<Crowd, string>> = {
  everybody: "The server is overloaded.",
  "this client": "Too many requests are under way from your address.",
};

/** Gives every answer its request id. While the server stops or is overloaded, it refuses requests before anything is read. */
function guardRequests(server: FastifyInstance, parts: GuardParts, inFlight: InFlight): void {
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    if (headerBytes(request.raw) > MAX_HEADER_BYTES) {
      allowAnyOrigin(reply).header("connection", "close");
      return done(new FormsvcError("headers_too_large"));
    }
    const isHealthCheck = request.routeOptions.url === "/healthz" || request.routeOptions.url === "/readyz";
    if (isHealthCheck) return done();
    if (parts.isDraining()) return done(refusal(reply, "The server is shutting down."));
    inFlight.enter(request, done, (crowd) => {
      // Otherwise the connection stays open. It would then be served before all waiting connections, and be refused again and again.
      if (Number(request.headers["content-length"] ?? 0) <= SMALL_BODY_BYTES)
        reply.header("connection", "close");
      done(refusal(reply, CROWDED[crowd]));
    });
  });
}

/**
 * The number of bytes of the headers as sent, with a blank after each colon. Node counts only names and values, which is a fraction of many
 * short lines.
 */
function headerBytes({ rawHeaders }: IncomingMessage): number {
  let bytes = 0;
  for (const part of rawHeaders) bytes += part.length + 2;
  return bytes;
}

function refusal(reply: FastifyReply, message: string): FormsvcError {
  allowAnyOrigin(reply);
  return new FormsvcError("unavailable", message, { retryAfterSeconds: 2 });
}

function holdingsFor({ bodyLimitBytes }: ServerLimits): Holdings {
  return {
    sockets: MAX_SOCKETS,
    requests: MAX_REQUESTS,
    answering: MAX_BEING_ANSWERED,
    bodyBytes: Math.max(MAX_BODY_BYTES, MIN_WHOLE_BODIES * bodyLimitBytes),
    answerBytes: MAX_ANSWER_BYTES,
  };
}

function configureNode(server: Server): void {
  server.maxConnections = MAX_SOCKETS;
  server.maxHeadersCount = MAX_HEADER_LINES;
  // A client may end its side and still read. Its post is stored, so it gets its answer. The types lack this option.
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Handles the requests that Node would answer by itself in its own words: an unknown `Expect` is ignored, a tunnel is refused. */
function answerForNode(server: Server, refuse: (socket: Duplex) => void): void {
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("connect", (_request, socket) => refuse(socket));
}

/** The request id that the client sent if it is harmless, else null. */
function givenId(request: IncomingMessage): string | null {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(given) ? given : null;
}

/** Makes short request ids that are unique across restarts. */
function createRequestIds(): () => string {
  const prefix = randomBytes(5).toString("hex");
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
