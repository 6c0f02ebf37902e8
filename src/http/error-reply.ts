import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../foundation/log.ts";
import { requestFailed } from "../foundation/events.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";
import { reword, type ValidationDetails } from "../schemas/issue-report.ts";
import { visitorWording } from "./visitors/visitor-language.ts";
import { visitorWords } from "./visitors/visitor-words.ts";
import type { Wording } from "../languages/wording.ts";
import { describeError, type ErrorCode, type ErrorFacts, FormsvcError } from "../foundation/errors.ts";

/** The body of every error. */
export interface ErrorBody {
  readonly error: string;
  /** A sentence for the developer. */
  readonly message: string;
  /** A sentence for the visitor; only in errors of posts. */
  readonly visitor_message?: string;
  /** `held` if the post is kept all the same; only in errors of posts. */
  readonly notices?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** @param request the request, or null if it did not reach a route. */
export function errorBody(error: FormsvcError, request: FastifyRequest | null): ErrorBody {
  const { members } = error.facts;
  const hasVisitors = request?.routeOptions?.config?.operation?.hasVisitors === true;
  const wording = hasVisitors ? visitorWording(request) : null;
  const details =
    wording === null
      ? error.facts.details
      : detailsFor(error, wording, request?.begun?.caller.ready.schema.definition);
  return {
    error: describeError(error.code).error,
    message: error.message,
    ...(wording !== null && { visitor_message: wording.text(visitorWords(error).sentence) }),
    ...(hasVisitors && error.facts.isHeld === true && { notices: ["held"] }),
    ...members,
    ...(details && { details }),
  };
}

/** The details of an error in the visitor's language: they say what was wrong with the visitor's input. */
export function detailsFor(
  { code, facts }: FormsvcError,
  wording: Wording,
  definition: SchemaDefinition = {},
): ErrorFacts["details"] {
  // Only a failed check against the schema has this code.
  if (code !== "validation_failed") return facts.details;
  return reword(facts.details as ValidationDetails, wording, definition);
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly log: Log;
}

/**
 * Like {@link sendError}, with the stable `code` of the error table, which the command line prints too, and with the hint about what can be
 * done.
 */
export function sendCodedError(exchange: Exchange, thrown: unknown, bodyLimitBytes: number): FastifyReply {
  const error = beginErrorReply(exchange, thrown, bodyLimitBytes);
  const { hint } = error.facts;
  return exchange.reply.type(JSON_TYPE).send({
    ...errorBody(error, exchange.request),
    code: error.code,
    ...(hint !== undefined && { hint }),
  });
}

/** Answers an error with the status and body of the error table. An unexpected error is logged whole and shown as `internal`. */
export function sendError(exchange: Exchange, thrown: unknown, bodyLimitBytes: number): FastifyReply {
  const error = beginErrorReply(exchange, thrown, bodyLimitBytes);
  return exchange.reply.type(JSON_TYPE).send(errorBody(error, exchange.request));
}

const JSON_TYPE = "application/json; charset=utf-8";
/** Headers that describe the content of an answer. If it fails before its first byte, its error is answered, and they must not describe that. */
const HEADERS_OF_CONTENT = [
  "content-type",
  "content-length",
  "content-disposition",
  "content-range",
  "accept-ranges",
  "etag",
];

/**
 * Logs the error, puts status and headers on the reply, and returns the part that the sender may see. A refusal is logged without its
 * stack: under overload there are thousands a second, and stacks would cost more than posts.
 */
export function beginErrorReply(
  { request, reply, log }: Exchange,
  thrown: unknown,
  bodyLimitBytes: number,
): FormsvcError {
  const error = foresee(thrown, bodyLimitBytes);
  const { status } = describeError(error.code);
  const shown = shownError({ request, log }, error);
  if (reply.hasHeader("content-type")) for (const name of HEADERS_OF_CONTENT) reply.removeHeader(name);
  if (error.facts.retryAfterSeconds !== undefined)
    reply.header("retry-after", Math.ceil(error.facts.retryAfterSeconds));
  if (error.code === "unauthorized") reply.header("www-authenticate", "Bearer");
  reply.code(status);
  return shown;
}

/** Logs an error of ours, and returns the part of it that the sender may see. */
export function shownError(
  { request, log }: Pick<Exchange, "request" | "log">,
  error: FormsvcError,
): FormsvcError {
  if (describeError(error.code).status >= 500)
    requestFailed(log, { reqId: request.id, code: error.code }, error.facts.cause ?? error, error.message);
  return asPublic(error);
}

/** The errors of the framework that can occur, by their code. Its other errors are about features that we do not use. */
const FRAMEWORK_ERRORS: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "payload_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "invalid_request",
  FST_ERR_BAD_URL: "not_found",
  FST_ERR_ASYNC_CONSTRAINT: "not_found",
  // The client left before its body was whole, so nobody reads the answer.
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

/** Hides the details of our own disk or configuration, which only the log has. The sender learns that there was an error. */
function asPublic(error: FormsvcError): FormsvcError {
  const { status } = describeError(error.code);
  if (status < 500 || error.code === "unavailable") return error;
  return new FormsvcError(status === 503 ? "unavailable" : "internal");
}
