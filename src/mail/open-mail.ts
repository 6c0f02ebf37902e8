import type { Database } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import type { Metrics } from "../foundation/metrics.ts";
import type { MayReply } from "../outbox/outbox.ts";
import type { Transport } from "../outbox/transport.ts";
import { createAutoReplyTransport } from "./auto-reply/auto-reply-transport.ts";
import { createMayReply } from "./auto-reply/may-reply.ts";
import type { ReplyLimits } from "./auto-reply/reply-limits.ts";
import { countLetters, Letters, timing } from "./letters.ts";
import { createMailLinks, type MailLinks, unsubscribeUrl } from "./mail-links.ts";
import { createMailTransport, type MailDeliverySettings } from "./mail-transport.ts";
import { placeOf } from "./mail-health.ts";
import { sendTestMail, type TestMail } from "./send-test-mail.ts";
import type { SmtpSender } from "./smtp-sender.ts";
import type { SmtpSettings } from "./smtp-settings.ts";

/** What sending e-mail needs of the server that it is part of. */
export interface MailParts {
  readonly db: Database;
  readonly smtp: SmtpSettings;
  /** Of all e-mail; the transport closes it. */
  readonly sender: SmtpSender;
  readonly settings: MailDeliverySettings;
  /** `server.baseUrl` */
  readonly baseUrl: string | null;
  /** Where the dashboard is; null if that is not known. */
  readonly dashboardUrl: string | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** Send what the outbox has for recipients, and for those who posted. */
export function openMailTransports(parts: MailParts): Transport[] {
  const { db, smtp, sender, settings, baseUrl, dashboardUrl, clock, log } = parts;
  const common = { db, sender, from: smtp.from, place: placeOf(smtp), settings, log };
  return [
    createMailTransport({
      ...common,
      dashboardUrl,
      unsubscribeUrl: (recipient) => baseUrl && unsubscribeUrl(baseUrl, recipient),
    }),
    createAutoReplyTransport({ ...common, clock }),
  ];
}

/** Decides who gets an automatic reply. Without a mail server nobody does: a reply that waits for one would come far too late. */
export function openMayReply(parts: MailParts | null, limits: ReplyLimits): MayReply | null {
  return parts && createMayReply([parts.smtp.from, parts.smtp.envelopeFrom], limits);
}

export interface MailService {
  readonly letters: Letters;
  /** What the links of e-mails to recipients do. */
  readonly mailLinks: MailLinks;
  /** Sends a test over the connections of all e-mail. @param to as `parseMailAddress` gives it */
  readonly sendTest: (to: string) => Promise<TestMail>;
}

/**
 * Null without a mail server; the metrics are there then too.
 *
 * @param onChange tells the server that settings changed.
 */
export function openMailService(
  parts: MailParts | null,
  metrics: Metrics,
  onChange: () => void,
): MailService | null {
  const count = countLetters(metrics);
  if (parts === null) return null;
  const { db, smtp, sender, settings, clock, log } = parts;
  const { perMinute } = settings.limits;
  const letters = new Letters({ sender, from: smtp.from, perMinute, clock, log, count, timing });
  return {
    letters,
    mailLinks: createMailLinks({ db, clock, onChange }),
    sendTest: (to) => sendTestMail(sender, { from: smtp.from, to }, clock.now()),
  };
}
