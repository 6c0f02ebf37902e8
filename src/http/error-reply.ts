import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../foundation/log.ts";
import { requestFailed } from "../foundation/events.ts";
import { describeError, type ErrorCode, FormsvcError } from "../foundation/errors.ts";

/** The general body of every error. */
export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

export function errorBody(error: FormsvcError): ErrorBody {
  const { details, members } = error.facts;
  return {
    error: describeError(error.code).error,
    message: error.message,
    ...members,
    ...(details && { details }),
  };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly log: Log;
}

/** Answers with what the error table says; what was not foreseen is logged whole and shown as internal. */
export function sendError(exchange: Exchange, thrown: unknown, bodyLimitBytes: number): FastifyReply {
  return exchange.reply.send(errorBody(beginErrorReply(exchange, thrown, bodyLimitBytes)));
}

/**
 * Logs what went wrong, puts status and headers on the reply, and returns what the sender may be told. A refusal is
 * logged by its reason alone: there are thousands a second when it matters, and stacks would cost more than posts.
 */
export function beginErrorReply(
  { request, reply, log }: Exchange,
  thrown: unknown,
  bodyLimitBytes: number,
): FormsvcError {
  const error = foresee(thrown, bodyLimitBytes);
  const { status } = describeError(error.code);
  if (status >= 500) {
    requestFailed(log, { reqId: request.id, code: error.code }, error.facts.cause ?? error, error.message);
  }
  if (error.facts.retryAfterSeconds !== undefined)
    reply.header("retry-after", Math.ceil(error.facts.retryAfterSeconds));
  if (error.code === "unauthorized") reply.header("www-authenticate", "Bearer");
  reply.code(status);
  return asPublic(error);
}

/** The framework's own errors by their code; the rest of them concern only what we do not use. */
const FRAMEWORK_ERRORS: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "payload_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "invalid_request",
  FST_ERR_BAD_URL: "not_found",
  FST_ERR_ASYNC_CONSTRAINT: "not_found",
  // The client left before its body was whole; nobody reads the answer.
  ECONNRESET: "invalid_request",
};

function foresee(thrown: unknown, bodyLimitBytes: number): FormsvcError {
  if (thrown instanceof FormsvcError) return thrown;
  const code = FRAMEWORK_ERRORS[(thrown as { code?: string }).code ?? ""];
  if (code === "payload_too_large") return bodyTooLarge(bodyLimitBytes);
  if (code === "not_found") return new FormsvcError(code, "There is nothing at this address.");
  return code === undefined
    ? new FormsvcError("internal", undefined, { cause: thrown })
    : new FormsvcError(code);
}

export function bodyTooLarge(limitBytes: number): FormsvcError {
  return new FormsvcError(
    "payload_too_large",
    `The body is larger than the ${limitBytes} bytes that this server accepts.`,
  );
}

/** What went wrong with our own disk or configuration is for the log; the sender is told only that it did. */
function asPublic(error: FormsvcError): FormsvcError {
  const { status } = describeError(error.code);
  if (status < 500 || error.code === "unavailable") return error;
  return new FormsvcError(status === 503 ? "unavailable" : "internal");
}
