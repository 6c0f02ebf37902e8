/** The steps of sending one e-mail, in order. `content` begins with the server's 354; `done` is its 250 for the whole e-mail. */
const SMTP_STAGES = ["connect", "tls", "login", "sender", "recipient", "data", "content", "done"] as const;
export type SmtpStage = (typeof SMTP_STAGES)[number];

/** The steps that say nothing about the recipient or the content, so that a failure in one is the same for every e-mail. */
export const COMMON_STAGES: ReadonlySet<SmtpStage> = new Set(["connect", "tls", "login", "sender"]);

/** The result of sending one e-mail, or of one check of the mail server. */
export interface SmtpResult {
  /** The step that failed, or `done`. A check ends at `sender`, so its success is `done` too. */
  readonly stage: SmtpStage;
  /** The server's reply in that step; null if none came. */
  readonly reply: SmtpReply | null;
  /** Why that step failed without a reply; null otherwise. */
  readonly problem: SmtpProblem | null;
  readonly durationMs: number;
}

export interface SmtpReply {
  /** The reply code, three digits. */
  readonly code: number;
  /** All lines without the code, joined to one line without control characters; at most 1,024 characters. */
  readonly text: string;
}

export interface SmtpProblem {
  /** A code of the system, like `ECONNREFUSED`, or one of our own, like `EDEADLINE`; `classify-mail.ts` lists them. */
  readonly code: string;
  /** The message of the system or the library, in one line, at most 200 characters. */
  readonly detail: string;
}
