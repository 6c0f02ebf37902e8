import type { Database } from "../database/database.ts";
import type { ServedDatabase } from "../database/served-database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import type { Metrics } from "../foundation/metrics.ts";
import type { Door } from "../operations/perform.ts";
import type { MayReply } from "../outbox/queue/outbox.ts";
import type { Transport } from "../outbox/sending/transport.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import { createAutoReplyTransport } from "./auto-reply/auto-reply-transport.ts";
import { createMayReply } from "./auto-reply/may-reply.ts";
import type { ReplyLimits } from "./auto-reply/reply-limits.ts";
import { createConfirmationLinks } from "./recipients/ask-holder.ts";
import { createInvitationLinks } from "./recipients/ask-invited.ts";
import { countLetters, Letters, timing } from "./letters/letters.ts";
import { createMailLinks, type MailLinks, unsubscribeUrl } from "./recipients/mail-links.ts";
import { createMailTransport, type MailDeliverySettings } from "./mail-transport.ts";
import { MailTests } from "./health/mail-tests.ts";
import { mailServerName } from "./health/mail-health.ts";
import { sendTestMail, type TestMail } from "./health/send-test-mail.ts";
import type { SmtpSender } from "./smtp/smtp-sender.ts";
import type { SmtpSettings } from "./smtp/smtp-settings.ts";
import { StoredLetters } from "./letters/stored-letters.ts";

/** What sending e-mail needs of the server. */
export interface MailParts {
  readonly db: Database;
  readonly smtp: SmtpSettings;
  /** The sender of all e-mail; the transport closes it. */
  readonly sender: SmtpSender;
  readonly settings: MailDeliverySettings;
  /** `server.baseUrl` */
  readonly baseUrl: string | null;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** Opens the transports for recipients of e-mail and for automatic replies. */
export function openMailTransports(parts: MailParts): Transport[] {
  const { db, smtp, sender, settings, baseUrl, dashboardUrl, clock, log } = parts;
  const common = { db, sender, from: smtp.from, destination: mailServerName(smtp), settings, log };
  return [
    createMailTransport({
      ...common,
      dashboardUrl,
      unsubscribeUrl: (recipient) => baseUrl && unsubscribeUrl(baseUrl, recipient),
    }),
    createAutoReplyTransport({ ...common, clock }),
  ];
}

/**
 * Opens the decision about automatic replies. Without a mail server there are none, because a reply that waits for one would come far too
 * late.
 */
export function openMayReply(parts: MailParts | null, limits: ReplyLimits): MayReply | null {
  return parts && createMayReply([parts.smtp.from, parts.smtp.envelopeFrom], limits);
}

export interface MailService {
  /** Letters with tokens, which wait in memory. */
  readonly letters: Letters;
  /** Letters that must not be lost, which wait in the database. */
  readonly storedLetters: StoredLetters;
  /** The pages behind the links in e-mails to recipients. */
  readonly mailLinks: MailLinks;
  /** Sends test e-mails over the connections of all e-mail. */
  readonly tests: MailTests;
}

/** What the mail service needs besides {@link MailParts}. */
export interface MailServiceParts {
  readonly metrics: Metrics;
  readonly served: Pick<ServedDatabase, "liveServers" | "confirmations">;
  /** The configuration of the whole server. */
  readonly config: Door<null>["config"];
  /** Notifies the server that settings changed. */
  readonly onChange: () => MaybeLater<void>;
}

/** Opens the mail service; null without a mail server. The metrics are registered in either case. */
export function openMailService(
  parts: MailParts | null,
  { metrics, served, config, onChange }: MailServiceParts,
): MailService | null {
  const count = countLetters(metrics);
  if (parts === null) return null;
  const { db, smtp, sender, settings, baseUrl, dashboardUrl, clock, log } = parts;
  const { perMinute } = settings.limits;
  const common = { sender, from: smtp.from, perMinute, clock, log, count, timing };
  const confirmationOf = createConfirmationLinks({ db, clock, baseUrl });
  const invitationOf = createInvitationLinks({ db, clock, dashboardUrl });
  const { scheduleSeconds } = settings;
  const sendTest = (to: string): Promise<TestMail> =>
    sendTestMail(sender, { from: smtp.from, to, endpoint: null, dashboardUrl: null }, clock.now());
  return {
    letters: new Letters(common),
    storedLetters: new StoredLetters({
      ...common,
      db,
      scheduleSeconds,
      servers: served.liveServers,
      confirmations: served.confirmations,
      linkOf: ({ recipientId, topic }) =>
        recipientId === null ? invitationOf(topic) : confirmationOf(recipientId),
    }),
    mailLinks: createMailLinks({ db, config, clock, onChange }),
    tests: new MailTests(sendTest, perMinute),
  };
}
