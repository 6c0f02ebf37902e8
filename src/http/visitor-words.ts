import type { ErrorCode, FormsvcError } from "../foundation/errors.ts";

/*
 * What a visitor reads when a form was refused, in one place. Visitors cannot solve the problems of the site's owner, and plans are
 * not their business: the sentence for the developer is the error's `message`.
 */

/** What became of the form, as the address of the page for errors says it (`?error=`). */
export type VisitorProblem = "held" | "invalid" | "refused" | "later";

export interface VisitorWords {
  readonly problem: VisitorProblem;
  /** The `visitor_message` of the body. */
  readonly sentence: string;
}

const BROKEN = "This form is not set up correctly. Please tell the owner of the site.";
const TRY_AGAIN = "Something went wrong on our side. Please send it again in a moment.";

/** A post that was kept although its month is full: whoever sent it need not send it again. */
const HELD: VisitorWords = {
  problem: "held",
  sentence: "We have your message; it may take a little longer until it is read.",
};

const WORDS: Partial<Record<ErrorCode, VisitorWords>> = {
  validation_failed: { problem: "invalid", sentence: "Some of your answers need another look." },
  invalid_json: { problem: "invalid", sentence: BROKEN },
  invalid_request: { problem: "invalid", sentence: BROKEN },
  payload_too_large: {
    problem: "invalid",
    sentence: "This is more than the form takes. Please shorten it, and leave files out.",
  },
  unsupported_media_type: {
    problem: "invalid",
    sentence: "This form does not take what was sent. Please leave files out, and send it again.",
  },
  unauthorized: { problem: "refused", sentence: BROKEN },
  forbidden: {
    problem: "refused",
    sentence: "This form does not take answers from here or at this time. Please tell the owner of the site.",
  },
  spam_blocked: {
    problem: "refused",
    sentence: "Your message could not be sent. Please get in touch in another way.",
  },
  submission_limit: {
    problem: "later",
    sentence: "This form cannot take your message right now. Please get in touch in another way.",
  },
  rate_limited: {
    problem: "later",
    sentence: "Too many messages came from your connection. Please send it again in a moment.",
  },
  conflict: { problem: "later", sentence: "Your message is on its way already. Please wait a moment." },
  request_timeout: {
    problem: "later",
    sentence: "Your message took too long to arrive. Please send it again.",
  },
  unavailable: {
    problem: "later",
    sentence: "The service cannot take your form right now. Please send it again in a moment.",
  },
};

/** What the visitor reads about this error of a post. */
export function visitorWords({ code, facts }: Pick<FormsvcError, "code" | "facts">): VisitorWords {
  if (facts.isHeld === true) return HELD;
  return WORDS[code] ?? { problem: "later", sentence: TRY_AGAIN };
}
