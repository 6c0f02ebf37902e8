import type { IncomingMessage } from "node:http";
import { ERROR_TABLE, type ErrorCode, FormsvcError } from "../../foundation/errors.ts";
import { shorten } from "../../foundation/shorten.ts";
import { isHint } from "../output/hints.ts";

type Json = Readonly<Record<string, unknown>>;

/** The largest number of characters of a server's message that are shown: some list many names, but none is a flood. */
const MAX_MESSAGE = 10_000;

/** Error codes by status, for an answer without a code. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  410: "gone",
  412: "precondition_failed",
  413: "payload_too_large",
  415: "unsupported_media_type",
  429: "rate_limited",
};

/**
 * The error that a server answered, as the same command on the database's own machine would throw it.
 *
 * @param answer null for the last line of a streamed answer
 * @param body its JSON; null if it has none
 */
export function errorOf(
  origin: string,
  answer: Pick<IncomingMessage, "statusCode" | "headers"> | null,
  body: Json | null,
): FormsvcError {
  const status = answer?.statusCode ?? 400;
  if (status >= 300 && status < 400) return movedTo(origin, answer?.headers.location);
  const { code: named, message: said, details, hint } = body ?? {};
  const code = isCode(named) ? named : null;
  if (typeof said !== "string") return strangeAnswer(origin, status);
  const message = shorten(said, MAX_MESSAGE);
  if (status >= 500 || code === "internal" || code === "unavailable")
    return new FormsvcError("unavailable", `${origin}: ${message}`);
  const advice = code === "unauthorized" ? `; log in again: formsvc login ${origin}` : "";
  const wait = secondsOf(answer?.headers["retry-after"]);
  return new FormsvcError(code ?? CODES[status] ?? "failed", `${message}${advice}`, {
    ...(wait !== null && { retryAfterSeconds: wait }),
    ...(isObject(details) && { details }),
    ...(isHint(hint) && { hint }),
  });
}

/** The seconds of a header `Retry-After`; null if it has none. */
function secondsOf(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : null;
}

/** The error for an answer that no server of ours gives. @param status the answer's status; null for a successful one */
export function strangeAnswer(origin: string, status: number | null): FormsvcError {
  const code = status === null || status >= 500 ? "unavailable" : (CODES[status] ?? "failed");
  const said = status === null ? "" : ` (status ${status})`;
  const advice = ofProxy(status)
    ? "a proxy answers in its place; is the server running?"
    : "is it the address of a server of formsvc?";
  return new FormsvcError(code, `${origin} did not answer as formsvc does${said}: ${advice}`);
}

/** Whether it is what proxies say of a server that they do not reach. */
function ofProxy(status: number | null): boolean {
  return status !== null && status >= 502 && status <= 504;
}

/** The error for an answer in another form than the header `Prefer` asked for. If it was a change, it may be done. */
export function unlikeAsked(origin: string): FormsvcError {
  const advice = "is it a server of formsvc, and does each proxy in between pass on the header Prefer?";
  return new FormsvcError(
    "unavailable",
    `${origin} did not answer in the form that was asked for: ${advice}`,
  );
}

function movedTo(origin: string, location: string | undefined): FormsvcError {
  const to = location === undefined ? "another address" : location.slice(0, 200);
  return new FormsvcError(
    "usage",
    `${origin} leads to ${to}, and redirects are not followed, because the token is for one server: name that address`,
  );
}

function isCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERROR_TABLE, value);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
