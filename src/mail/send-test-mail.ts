import { newId } from "../foundation/id.ts";
import { classifyMail, type MailOutcome } from "./classify-mail.ts";
import { composeLetter } from "./compose-letter.ts";
import type { SmtpResult } from "./smtp-result.ts";
import type { SmtpSender } from "./smtp-sender.ts";

/** What became of an e-mail that tries the mail server. */
export interface TestMail {
  readonly messageId: string;
  readonly to: string;
  readonly result: SmtpResult;
  readonly outcome: MailOutcome;
  /** For whoever configures the mail server: what it said, and what to do. */
  readonly message: string;
}

/** Sends a short e-mail once, now, the way that all go; nothing of it is stored. */
export async function sendTestMail(
  sender: Pick<SmtpSender, "send">,
  { from, to }: { readonly from: string; readonly to: string },
  now: number,
): Promise<TestMail> {
  const messageId = newId("msg", now);
  const raw = composeLetter({
    id: messageId,
    from,
    fromName: "formsvc",
    to,
    subject: "A test of e-mail from formsvc",
    paragraphs: [
      "This is a test. If you can read it, the mail server takes e-mail from formsvc and delivers it to you.",
      "If it came as spam, look at the SPF, DKIM and DMARC records of the domain that it comes from.",
    ],
    link: null,
    origin: "auto-generated",
  });
  const result = await sender.send({ to, raw });
  const { outcome, message } = classifyMail(result);
  return { messageId, to, result, outcome, message };
}
