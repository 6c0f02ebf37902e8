/** The steps of sending one e-mail, in their order. `content` begins with the server's 354; `done` is its 250 to the whole. */
export const SMTP_STAGES = [
  "connect",
  "tls",
  "login",
  "sender",
  "recipient",
  "data",
  "content",
  "done",
] as const;
export type SmtpStage = (typeof SMTP_STAGES)[number];

/** Steps in which nothing was said of the recipient or the content: a failure there is the same for every e-mail. */
export const COMMON_STAGES: ReadonlySet<SmtpStage> = new Set(["connect", "tls", "login", "sender"]);

/** What happened to one e-mail, or to one check of the mail server. */
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
  /** Three digits. */
  readonly code: number;
  /** All its lines, without the code, in one line without control characters, at most 1,024 characters. */
  readonly text: string;
}

export interface SmtpProblem {
  /** Of the system, like `ECONNREFUSED`, or one of ours, like `EDEADLINE`; `classify-mail.ts` lists them. */
  readonly code: string;
  /** The words of the system or the library, in one line, at most 200 characters. */
  readonly detail: string;
}
