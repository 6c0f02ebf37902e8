import type { ErrorCode, FormsvcError } from "../../foundation/errors.ts";
import type { TextKey } from "../../languages/wording.ts";

/*
 * What a visitor reads when a form was refused. Visitors cannot solve the problems of the site's owner, and plans are not their business;
 * the sentence for the developer is the error's `message`.
 */

/** What became of the form, as the address of the error page says it (`?error=`). */
export type VisitorProblem = "held" | "invalid" | "refused" | "later";

export interface VisitorWords {
  readonly problem: VisitorProblem;
  /** The key of the body's `visitor_message`. */
  readonly sentence: TextKey;
}

/** The words for a post that is held because its month is full. Its sender need not send it again. */
const HELD: VisitorWords = { problem: "held", sentence: "held" };

const WORDS: Partial<Record<ErrorCode, VisitorWords>> = {
  validation_failed: { problem: "invalid", sentence: "lookAgain" },
  invalid_json: { problem: "invalid", sentence: "formIsBroken" },
  invalid_request: { problem: "invalid", sentence: "formIsBroken" },
  payload_too_large: { problem: "invalid", sentence: "tooLarge" },
  unsupported_media_type: { problem: "invalid", sentence: "otherType" },
  unauthorized: { problem: "refused", sentence: "formIsBroken" },
  forbidden: { problem: "refused", sentence: "notFromHere" },
  challenge_required: { problem: "refused", sentence: "challengeRequired" },
  spam_blocked: { problem: "refused", sentence: "blocked" },
  submission_limit: { problem: "later", sentence: "notNow" },
  upload_limit: { problem: "later", sentence: "tooLarge" },
  storage_limit: { problem: "later", sentence: "tooLarge" },
  rate_limited: { problem: "later", sentence: "tooMany" },
  conflict: { problem: "later", sentence: "onItsWay" },
  request_timeout: { problem: "later", sentence: "tooSlow" },
  unavailable: { problem: "later", sentence: "busy" },
};

/** The words for the visitor about this error of a post. */
export function visitorWords({ code, facts }: Pick<FormsvcError, "code" | "facts">): VisitorWords {
  if (facts.isHeld === true) return HELD;
  return WORDS[code] ?? { problem: "later", sentence: "tryAgain" };
}
