import type { Hint } from "./hint.ts";

/**
 * The one error table. Domain code throws {@link FormsvcError} with a code from here; `http/error-reply` turns the
 * code into a status and body, `cli/exit-code` into an exit code. `docs/errors.md` shows the same rows, and a test
 * keeps the two equal.
 *
 * `status` and `error` are what an HTTP client sees (`error` is the body's member of that name); `exitCode` is what a
 * shell script sees; `sentence` is the message if the thrower gives none.
 */
export const ERROR_TABLE = {
  validation_failed: [400, "Validation failed", 2, "The data does not match the endpoint's schema."],
  invalid_json: [400, "Invalid JSON", 2, "The body is not a JSON object."],
  invalid_request: [400, "Invalid request", 2, "A header or parameter of the request is malformed."],
  unauthorized: [401, "Unauthorized", 1, "A valid API key is required: Authorization: Bearer <API_KEY>."],
  forbidden: [403, "Forbidden", 1, "This key may not do that."],
  challenge_required: [
    403,
    "Challenge required",
    1,
    "This endpoint takes posts only with a challenge that was solved: a proof of work, or the token of a service.",
  ],
  not_found: [404, "Not found", 3, "There is nothing here."],
  method_not_allowed: [405, "Method not allowed", 1, "This address does not take that method."],
  request_timeout: [408, "Request timeout", 1, "The request took too long to arrive."],
  conflict: [409, "Conflict", 1, "The request conflicts with an earlier one."],
  gone: [410, "Gone", 1, "It is not kept any more."],
  precondition_failed: [412, "Precondition failed", 1, "It was changed since it was read."],
  payload_too_large: [413, "Payload too large", 1, "The body is larger than this server accepts."],
  unsupported_media_type: [415, "Unsupported media type", 1, "Send Content-Type: application/json."],
  rate_limited: [
    429,
    "Rate limit exceeded",
    1,
    "Too many requests; try again after the time in Retry-After.",
  ],
  submission_limit: [
    429,
    "Submission limit exceeded",
    4,
    "The monthly submission limit is reached; upgrade the plan to accept more.",
  ],
  upload_limit: [
    429,
    "Upload limit exceeded",
    1,
    "As many bytes of files came today as may come; try again after the time in Retry-After.",
  ],
  storage_limit: [
    429,
    "Storage limit exceeded",
    4,
    "The workspace's room for files is full; upgrade the plan, or delete files.",
  ],
  spam_blocked: [
    429,
    "Submission could not be processed",
    1,
    "The submission appears to be spam and was blocked.",
  ],
  headers_too_large: [431, "Headers too large", 1, "The request's headers are larger than 16 KiB."],
  internal: [
    500,
    "Internal server error",
    1,
    "Something went wrong on our side; the request id leads to the log line.",
  ],
  unavailable: [
    503,
    "Service unavailable",
    5,
    "The service cannot take this request now; try again shortly.",
  ],
  failed: [500, "Internal server error", 1, "The command failed."],
  usage: [400, "Invalid request", 2, "The command was used wrongly."],
  config_invalid: [500, "Internal server error", 2, "The configuration is not valid."],
  schema_invalid: [400, "Invalid request", 2, "The schema is not valid."],
  ambiguous: [
    400,
    "Invalid request",
    2,
    "The name fits more than one; use its id, or WORKSPACE/NAME for an endpoint.",
  ],
  already_exists: [409, "Conflict", 1, "It exists already."],
  plan_limit: [403, "Forbidden", 4, "The workspace's plan does not include this."],
  database_busy: [503, "Service unavailable", 5, "Another process holds the database; try again shortly."],
  database_unusable: [503, "Service unavailable", 5, "The database cannot be used."],
  server_running: [503, "Service unavailable", 5, "Another server already serves this database."],
} as const satisfies Record<
  string,
  readonly [status: number, error: string, exitCode: ExitCode, sentence: string]
>;

/** 0 done, 1 failed, 2 wrong usage or configuration, 3 not found, 4 refused by a plan, 5 database busy or unusable. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** What an error means to clients and scripts: one row of {@link ERROR_TABLE}, by name. */
export function describeError(code: ErrorCode): {
  status: number;
  error: string;
  exitCode: ExitCode;
  sentence: string;
} {
  const [status, error, exitCode, sentence] = ERROR_TABLE[code];
  return { status, error, exitCode, sentence };
}

export interface ErrorFacts {
  /** The body's `details`: specific to the code, safe to show to the sender. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Further members of the body, beside `error`, `message` and `details`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Whether the post that was refused is held, so that whoever sent it may be told that it is there. */
  readonly isHeld?: boolean;
  /** Seconds for `Retry-After`, rounded up. */
  readonly retryAfterSeconds?: number;
  /** What can be done about it; of answers only those of the API have it. */
  readonly hint?: Hint;
  readonly cause?: unknown;
}

/** An expected failure. Anything else that is thrown is a defect: it is logged whole and shown as `internal`. */
export class FormsvcError extends Error {
  override readonly name = "FormsvcError";
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string = ERROR_TABLE[code][3], facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.facts = facts;
  }
}
