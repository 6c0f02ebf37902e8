import { newId } from "../foundation/id.ts";
import { composeLetter } from "./compose-letter.ts";
import type { SmtpResult } from "./smtp-result.ts";
import type { SmtpSender } from "./smtp-sender.ts";

/** Sends a short e-mail once, now, the way that all go; nothing of it is stored. */
export async function sendTestMail(
  sender: Pick<SmtpSender, "send">,
  { from, to }: { readonly from: string; readonly to: string },
  now: number,
): Promise<{ readonly messageId: string; readonly result: SmtpResult }> {
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
  return { messageId, result: await sender.send({ to, raw }) };
}
