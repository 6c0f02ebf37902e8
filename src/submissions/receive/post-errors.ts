import { countOf } from "../../foundation/count-of.ts";
import { nextMonthStart } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listNames } from "../../foundation/list-names.ts";

/* The errors of a post that need more than an error code. */

/** The error for a page whose origin the endpoint does not allow. */
export function foreignOrigin(): FormsvcError {
  return new FormsvcError("forbidden", "This page's origin is not among the endpoint's allowed origins.");
}

/** Thrown if the form moved to another workspace while its post was handled. The caller checks the post again. */
export class MovedMeanwhile extends FormsvcError {
  constructor() {
    super("unavailable", "The form was moved a moment ago; try again shortly.", { retryAfterSeconds: 1 });
  }
}

/** The largest number of fields that a message names, and the longest part of a name in it, in characters. */
const MAX_NAMED = 10;
const MAX_NAME_LENGTH = 100;

/** @param details what is wrong, by field. */
export function invalidData(details: Readonly<Record<string, unknown>>): FormsvcError {
  const names = listNames(Object.keys(details), MAX_NAMED, (name) =>
    JSON.stringify(name.slice(0, MAX_NAME_LENGTH)),
  );
  const message = `The data does not match the endpoint's schema; see details for: ${names}.`;
  return new FormsvcError("validation_failed", message, { details });
}

/** @param isHeld whether the post is held nevertheless. */
export function overLimit(limit: number, now: number, isHeld: boolean): FormsvcError {
  return new FormsvcError(
    "submission_limit",
    `The monthly limit of ${countOf(limit, "submission")} is reached; upgrade the plan to accept more, or wait for the next month.`,
    {
      members: { limit, remainingSubmissions: 0 },
      isHeld,
      retryAfterSeconds: Math.max(1, Math.ceil((nextMonthStart(now) - now) / 1000)),
    },
  );
}

/** The errors with which a post can be refused. */
export const POST_REFUSALS = [
  "validation_failed",
  "invalid_request",
  "unauthorized",
  "forbidden",
  "challenge_required",
  "conflict",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limited",
  "submission_limit",
  "upload_limit",
  "storage_limit",
  "spam_blocked",
] as const;
