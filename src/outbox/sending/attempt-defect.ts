import { FormsvcError } from "../../foundation/errors.ts";
import type { AttemptResult } from "./transport.ts";

/** Characters of what a defect says of itself that are kept with the attempt. */
const MAX_DETAIL_LENGTH = 500;

/**
 * The result of an attempt that ended by a defect. It is spent, so that a message that a defect keeps from being sent runs out of
 * attempts and holds up no other. A database that refuses is no fault of the message.
 */
export function failureOf(error: unknown): AttemptResult {
  const detail = error instanceof Error ? error.message : "unknown";
  const isOurs = error instanceof FormsvcError && error.code.startsWith("database_");
  return {
    outcome: isOurs ? "interrupted" : "failed",
    blame: isOurs ? "own" : "recipient",
    message: `The message could not be made or sent: ${detail.slice(0, MAX_DETAIL_LENGTH)}.`,
    status: null,
    answer: null,
    retryAfterMs: null,
    durationMs: 0,
  };
}
