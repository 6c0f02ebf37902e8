import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describeError, type ErrorCode, FormsvcError } from "../foundation/errors.ts";
import { requestUnreadable } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import { errorBody } from "./error-reply.ts";

/** Node's own word for a request that takes too long. */
export const SLOW_REQUEST = "ERR_HTTP_REQUEST_TIMEOUT";

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  [SLOW_REQUEST]: "request_timeout",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "payload_too_large",
};

/** How long a client that is refused has to take its answer. */
const LINGER_MS = 2000;

/** A request that reached a route, and what becomes its answer. */
export interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Answers what failed before there was a whole request: broken, oversized or slow HTTP. Then the socket is closed, so
 * that a client pays for each such line of the log with a connection. Where the answer is given already, it is only closed.
 *
 * @param failure its code is the parser's own word, never the client's.
 * @param asked the last request on this socket; null where none reached a route.
 */
export function refuseSocket(
  failure: { readonly code?: string },
  socket: Duplex,
  log: Log,
  asked: Asked | null,
  nextId: () => string,
): void {
  if (failure.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  // Node takes its own listener off a tunnel; an error that nobody listens to would end the process.
  socket.on("error", () => socket.destroy());
  // Ended, not destroyed: what is still on its way to the client must arrive first.
  if (asked !== null && hasLastAnswer(asked)) socket.end();
  else socket.end(renderRefusal(failure, log, isArriving(asked) ? asked.request.id : nextId()));
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
  // Node reads nothing more of a tunnel, whose end would pass unseen then.
  socket.resume();
}

/** The last request on each socket, as long as it may matter to what fails there. */
export interface LastAsked {
  on(socket: Duplex): Asked | null;
  note(request: FastifyRequest, reply: FastifyReply): void;
  /** It is answered; where all of it has arrived, an idle connection would only hold on to its body. */
  forgetWhole(request: FastifyRequest): void;
}

export function followAsked(): LastAsked {
  const bySocket = new WeakMap<Duplex, Asked>();
  return {
    on: (socket) => bySocket.get(socket) ?? null,
    note: (request, reply) => void bySocket.set(request.raw.socket, { request, reply }),
    forgetWhole({ raw }) {
      if (raw.complete && bySocket.get(raw.socket)?.request.raw === raw) bySocket.delete(raw.socket);
    },
  };
}

/** Whether what fails is this request's body, and not what comes after it. */
function isArriving(asked: Asked | null): asked is Asked {
  return asked !== null && !asked.request.raw.complete;
}

/** Whether nothing may be said any more: the answer to what fails is under way, or another was announced as the last. */
function hasLastAnswer(asked: Asked): boolean {
  const { raw } = asked.reply;
  return raw.headersSent && (isArriving(asked) || !raw.shouldKeepAlive);
}

function renderRefusal(failure: { readonly code?: string }, log: Log, reqId: string): string {
  const code = CODES[failure.code ?? ""] ?? "invalid_request";
  const message = code === "invalid_request" ? "This is not a request that HTTP/1.1 allows." : undefined;
  const body = JSON.stringify(errorBody(new FormsvcError(code, message)));
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
