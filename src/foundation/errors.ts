import type { Hint } from "./hint.ts";

/**
 * The one error table. Domain code throws {@link FormsvcError} with a code from here; `http/error-reply` turns the
 * code into a status and body, `cli/exit-code` into an exit code. `docs/errors.md` shows the same rows, and a test
 * keeps the two equal.
 *
 * `status` and `error` are what an HTTP client sees (`error` is the body's member of that name); `exitCode` is what a
 * shell script sees.
 */
export const ERROR_TABLE = {
  validation_failed: { status: 400, error: "Validation failed", exitCode: 2 },
  invalid_json: { status: 400, error: "Invalid JSON", exitCode: 2 },
  invalid_request: { status: 400, error: "Invalid request", exitCode: 2 },
  unauthorized: { status: 401, error: "Unauthorized", exitCode: 1 },
  forbidden: { status: 403, error: "Forbidden", exitCode: 1 },
  challenge_required: { status: 403, error: "Challenge required", exitCode: 1 },
  not_found: { status: 404, error: "Not found", exitCode: 3 },
  method_not_allowed: { status: 405, error: "Method not allowed", exitCode: 1 },
  request_timeout: { status: 408, error: "Request timeout", exitCode: 1 },
  conflict: { status: 409, error: "Conflict", exitCode: 1 },
  gone: { status: 410, error: "Gone", exitCode: 1 },
  precondition_failed: { status: 412, error: "Precondition failed", exitCode: 1 },
  payload_too_large: { status: 413, error: "Payload too large", exitCode: 1 },
  unsupported_media_type: { status: 415, error: "Unsupported media type", exitCode: 1 },
  rate_limited: { status: 429, error: "Rate limit exceeded", exitCode: 1 },
  submission_limit: { status: 429, error: "Submission limit exceeded", exitCode: 4 },
  upload_limit: { status: 429, error: "Upload limit exceeded", exitCode: 1 },
  storage_limit: { status: 429, error: "Storage limit exceeded", exitCode: 4 },
  spam_blocked: { status: 429, error: "Submission could not be processed", exitCode: 1 },
  headers_too_large: { status: 431, error: "Headers too large", exitCode: 1 },
  internal: { status: 500, error: "Internal server error", exitCode: 1 },
  unavailable: { status: 503, error: "Service unavailable", exitCode: 5 },
  failed: { status: 500, error: "Internal server error", exitCode: 1 },
  usage: { status: 400, error: "Invalid request", exitCode: 2 },
  config_invalid: { status: 500, error: "Internal server error", exitCode: 2 },
  schema_invalid: { status: 400, error: "Invalid request", exitCode: 2 },
  ambiguous: { status: 400, error: "Invalid request", exitCode: 2 },
  already_exists: { status: 409, error: "Conflict", exitCode: 1 },
  plan_limit: { status: 403, error: "Forbidden", exitCode: 4 },
  database_busy: { status: 503, error: "Service unavailable", exitCode: 5 },
  database_unusable: { status: 503, error: "Service unavailable", exitCode: 5 },
  server_running: { status: 503, error: "Service unavailable", exitCode: 5 },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  readonly status: number;
  readonly error: string;
  readonly exitCode: ExitCode;
}

/** 0 done, 1 failed, 2 wrong usage or configuration, 3 not found, 4 refused by a plan, 5 database busy or unusable. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** The message of an error if the thrower gives none. */
const SENTENCES: Readonly<Record<ErrorCode, string>> = {
  validation_failed: "The data does not match the endpoint's schema.",
  invalid_json: "The body is not a JSON object.",
  invalid_request: "A header or parameter of the request is malformed.",
  unauthorized: "A valid API key is required: Authorization: Bearer <API_KEY>.",
  forbidden: "This key may not do that.",
  challenge_required:
    "This endpoint takes posts only with a challenge that was solved: a proof of work, or the token of a service.",
  not_found: "There is nothing here.",
  method_not_allowed: "This address does not take that method.",
  request_timeout: "The request took too long to arrive.",
  conflict: "The request conflicts with an earlier one.",
  gone: "It is not kept any more.",
  precondition_failed: "It was changed since it was read.",
  payload_too_large: "The body is larger than this server accepts.",
  unsupported_media_type: "Send Content-Type: application/json.",
  rate_limited: "Too many requests; try again after the time in Retry-After.",
  submission_limit: "The monthly submission limit is reached; upgrade the plan to accept more.",
  upload_limit: "The limit of bytes of files in a day is reached; try again after the time in Retry-After.",
  storage_limit: "The workspace's room for files is full; upgrade the plan, or delete files.",
  spam_blocked: "The submission appears to be spam and was blocked.",
  headers_too_large: "The request's headers are larger than 16 KiB.",
  internal: "Something went wrong on our side; the request id leads to the log line.",
  unavailable: "The service cannot take this request now; try again shortly.",
  failed: "The command failed.",
  usage: "The command was used wrongly.",
  config_invalid: "The configuration is not valid.",
  schema_invalid: "The schema is not valid.",
  ambiguous: "The name fits more than one; use its id, or WORKSPACE/NAME for an endpoint.",
  already_exists: "It exists already.",
  plan_limit: "The workspace's plan does not include this.",
  database_busy: "Another process holds the database; try again shortly.",
  database_unusable: "The database cannot be used.",
  server_running: "Another server already serves this database.",
};

/** What an error means to clients and scripts. */
export function describeError(code: ErrorCode): ErrorRow & { readonly sentence: string } {
  return { ...ERROR_TABLE[code], sentence: SENTENCES[code] };
}

export interface ErrorFacts {
  /** The body's `details`: specific to the code, safe to show to the sender. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Further members of the body, besides `error`, `message` and `details`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Whether the refused post is held. If so, the answer may say that the post was kept. */
  readonly isHeld?: boolean;
  /** Seconds for `Retry-After`, rounded up. */
  readonly retryAfterSeconds?: number;
  /** What can be done about the error. The API's answers have it, the answers to posts do not. */
  readonly hint?: Hint;
  readonly cause?: unknown;
}

/** An expected failure. Anything else that is thrown is a defect: it is logged whole and shown as `internal`. */
export class FormsvcError extends Error {
  override readonly name = "FormsvcError";
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string = SENTENCES[code], facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.facts = facts;
  }
}
