import type { Blame } from "../outbox/transport.ts";
import type { SmtpResult } from "./smtp-result.ts";

/** The outcome under which an attempt is recorded. */
export type MailOutcome =
  | "delivered"
  | "deferred"
  | "recipient_refused"
  | "content_refused"
  | "sender_refused"
  | "login_refused"
  | "tls_failed"
  | "relay_refused"
  | "unreachable"
  | "unsure"
  | "interrupted";

export interface MailVerdict {
  readonly outcome: MailOutcome;
  readonly blame: Blame;
  /** For people: what happened, and what to do about it. */
  readonly message: string;
}

/** Judges one attempt. */
export function classifyMail({ stage, reply, problem }: SmtpResult): MailVerdict {
  if (stage === "done")
    return { outcome: "delivered", blame: "nobody", message: `Sent: ${reply?.text ?? ""}` };
  return { outcome: "unreachable", blame: "recipient", message: problem?.detail ?? reply?.text ?? "" };
}
