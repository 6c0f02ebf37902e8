import { FormsvcError } from "../../foundation/errors.ts";
import type { AttemptResult } from "./transport.ts";

/** The largest number of characters of a defect's message that are kept with the attempt. */
const MAX_DETAIL_LENGTH = 500;

/**
 * The result of an attempt that a defect of this program ended. It is spent, so that a message that always meets the defect runs out of
 * attempts and holds up no other. But if the database refused, nothing is spent, because that is no fault of the message.
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
