import type { Brand } from "../../foundation/brand.ts";
import { newId } from "../../foundation/id.ts";
import { classifyMail, type MailOutcome } from "../smtp/classify-mail.ts";
import { renderBody } from "../../outbox/queue/event.ts";
import { composeLetter } from "../compose/compose-letter.ts";
import { composeNotification } from "../compose/compose-notification.ts";
import type { SmtpResult } from "../smtp/smtp-result.ts";
import type { SmtpSender } from "../smtp/smtp-sender.ts";
import { UTC } from "../compose/mailed-event.ts";

/** The result of an e-mail that tests the mail server. */
export interface TestMail {
  readonly messageId: string;
  readonly to: string;
  readonly result: SmtpResult;
  readonly outcome: MailOutcome;
  /** What the mail server said and what to do, for the person who configures it. */
  readonly message: string;
}

export interface TestEnvelope {
  /** `mail.from` */
  readonly from: string;
  readonly to: string;
  /** The endpoint whose e-mails the test looks like; null gives a short letter about no endpoint. */
  readonly endpoint: { readonly id: string; readonly name: string; readonly brand: Brand } | null;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
}

/** Sends a short e-mail once, now, the way that all e-mail goes. Nothing of it is stored. */
export async function sendTestMail(
  sender: Pick<SmtpSender, "send">,
  envelope: TestEnvelope,
  now: number,
): Promise<TestMail> {
  const { to, endpoint } = envelope;
  const messageId = newId("msg", now);
  const raw =
    endpoint === null
      ? composeTest(messageId, envelope)
      : composeSample({ ...envelope, id: messageId, brand: endpoint.brand }, renderSample(endpoint, now));
  const result = await sender.send({ to, raw });
  const { outcome, message } = classifyMail(result);
  return { messageId, to, result, outcome, message };
}

function composeTest(messageId: string, { from, to }: TestEnvelope): Buffer {
  return composeLetter({
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
}

/** The e-mail about an invented submission. */
function composeSample(sample: Omit<TestEnvelope, "endpoint"> & Sampled, body: string): Buffer {
  const template = { subjectTemplate: null, emailFields: [], unsubscribeUrl: null } as const;
  const reader = { language: "en", timeZone: UTC } as const;
  return composeNotification({ ...template, ...reader, ...sample }, body);
}

interface Sampled {
  readonly id: string;
  readonly brand: Brand;
}

function renderSample({ id, name }: { readonly id: string; readonly name: string }, now: number): string {
  const invented = { spamScore: 0, ipAddress: "192.0.2.1", userAgent: "formsvc", createdAt: now };
  const data = { message: "This is a test: an invented submission that is stored nowhere." };
  const submission = { id: newId("sub", now), endpointId: id, ...invented };
  return renderBody(submission, JSON.stringify(data), name, now);
}
