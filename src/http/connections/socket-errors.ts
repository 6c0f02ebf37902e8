import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describeError, type ErrorCode, FormsvcError } from "../../foundation/errors.ts";
import { requestUnreadable } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";
import { errorBody } from "../error-reply.ts";
import { SMALL_PIECES } from "./small-pieces.ts";

/** Node's error code for a request that takes too long. */
export const SLOW_REQUEST = "ERR_HTTP_REQUEST_TIMEOUT";

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  [SLOW_REQUEST]: "request_timeout",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "payload_too_large",
};

/** Messages that replace the general message of an error. */
const MESSAGES: Readonly<Record<string, string>> = {
  [SMALL_PIECES]: "The body came in thousands of very small pieces; send it in larger ones.",
};

/** The time that a refused client has to take its answer. */
const LINGER_MS = 2000;

/** A request that reached a route, and its answer. */
export interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Answers failures that occur before there is a whole request: broken, oversized or slow HTTP. Then it closes the socket, so each such log
 * line costs the client a connection. If the answer was sent already, it only closes the socket.
 *
 * @param failure its code comes from the parser or from us, never from the client.
 * @param asked the last request on this socket; null if none reached a route.
 */
export function refuseSocket(
  failure: { readonly code?: string },
  socket: Duplex,
  asked: Asked | null,
  { log, nextId }: { readonly log: Log; readonly nextId: () => string },
): void {
  if (failure.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  // Node removes its own listener from a tunnel, and an error without a listener would end the process.
  socket.on("error", () => socket.destroy());
  // The socket is ended, not destroyed, because bytes on their way to the client must arrive first.
  if (asked !== null && hasLastAnswer(asked)) socket.end();
  else socket.end(renderRefusal(failure, log, isArriving(asked) ? asked.request : null, nextId));
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
  // Node stops reading from a tunnel, so its end would not be noticed.
  socket.resume();
}

/** Remembers the last request on each socket as long as a failure there may concern it. */
export interface LastAsked {
  on(socket: Duplex): Asked | null;
  note(request: FastifyRequest, reply: FastifyReply): void;
  /** Forgets an answered request if all of it has arrived, because an idle connection would keep its body in memory. */
  forgetWhole(request: FastifyRequest): void;
}

/** Never replaced, only changed: see {@link followAsked}. */
interface SocketEntry {
  request: FastifyRequest | null;
  reply: FastifyReply | null;
}

/**
 * Each socket keeps one entry for its whole life. With a new entry for each request, the engine kept 5 KB of each until it collected old
 * objects, two or three times a second under load.
 */
export function followAsked(): LastAsked {
  const bySocket = new WeakMap<Duplex, SocketEntry>();
  return {
    on(socket) {
      const { request = null, reply = null } = bySocket.get(socket) ?? {};
      return request === null || reply === null ? null : { request, reply };
    },
    note(request, reply) {
      const entry = bySocket.get(request.raw.socket);
      if (entry === undefined) bySocket.set(request.raw.socket, { request, reply });
      else [entry.request, entry.reply] = [request, reply];
    },
    forgetWhole({ raw }) {
      const entry = bySocket.get(raw.socket);
      if (entry === undefined || !raw.complete || entry.request?.raw !== raw) return;
      [entry.request, entry.reply] = [null, null];
    },
  };
}

/** Whether the failure is in this request's body, and not after the request. */
function isArriving(asked: Asked | null): asked is Asked {
  return asked !== null && !asked.request.raw.complete;
}

/** Whether no further answer may be sent: the answer to the failed request has begun, or an earlier answer was the last one. */
function hasLastAnswer(asked: Asked): boolean {
  const { raw } = asked.reply;
  return raw.headersSent && (isArriving(asked) || !raw.shouldKeepAlive);
}

/** @param request the request whose body failed; null if none reached a route */
function renderRefusal(
  failure: { readonly code?: string },
  log: Log,
  request: FastifyRequest | null,
  nextId: () => string,
): string {
  const reqId = request?.id ?? nextId();
  const code = CODES[failure.code ?? ""] ?? "invalid_request";
  const broken = code === "invalid_request" ? "This is not a request that HTTP/1.1 allows." : undefined;
  const message = MESSAGES[failure.code ?? ""] ?? broken;
  const body = JSON.stringify(errorBody(new FormsvcError(code, message), request));
  const { status } = describeError(code);
  requestUnreadable(log, { reqId, status, reason: failure.code ?? "unknown" });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${reqId}`,
    "Access-Control-Allow-Origin: *",
    "Access-Control-Expose-Headers: X-Request-Id",
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
