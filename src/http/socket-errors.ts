import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { describeError, type ErrorCode, FormsvcError } from "../foundation/errors.ts";
import { requestUnreadable } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import { errorBody } from "./error-reply.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "payload_too_large",
};

/** How long a client that is refused has to take its answer. */
const LINGER_MS = 2000;

/**
 * Answers what failed before there was a request to route: broken, oversized or slow HTTP. Then the socket is closed, so
 * that a client pays for each such line of the log with a connection.
 *
 * @param failure its code is the parser's own word, never the client's.
 */
export function refuseSocket(
  failure: { readonly code?: string },
  socket: Duplex,
  log: Log,
  reqId: string,
): void {
  if (failure.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  // Node takes its own listener off a tunnel; an error that nobody listens to would end the process.
  socket.on("error", () => socket.destroy());
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
  // Ended, not destroyed: what is still on its way to the client must arrive first.
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
  // Node reads nothing more of a tunnel, whose end would pass unseen then.
  socket.resume();
}
