import type { Database } from "../database/database.ts";
import type { ServedDatabase } from "../database/served-database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import type { Metrics } from "../foundation/metrics.ts";
import type { Door } from "../operations/perform.ts";
import type { MayReply } from "../outbox/queue/outbox.ts";
import type { Transport } from "../outbox/sending/transport.ts";
import { createAutoReplyTransport } from "./auto-reply/auto-reply-transport.ts";
import { createMayReply } from "./auto-reply/may-reply.ts";
import type { ReplyLimits } from "./auto-reply/reply-limits.ts";
import { createConfirmationLinks } from "./ask-holder.ts";
import { createInvitationLinks } from "./ask-invited.ts";
import { countLetters, Letters, timing } from "./letters.ts";
import { createMailLinks, type MailLinks, unsubscribeUrl } from "./mail-links.ts";
import { createMailTransport, type MailDeliverySettings } from "./mail-transport.ts";
import { MailTests } from "./mail-tests.ts";
import { mailServerName } from "./mail-health.ts";
import { sendTestMail, type TestMail } from "./send-test-mail.ts";
import type { SmtpSender } from "./smtp-sender.ts";
import type { SmtpSettings } from "./smtp-settings.ts";
import { StoredLetters } from "./stored-letters.ts";

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

/** Decides who gets an automatic reply. Without a mail server nobody does: a reply that waits for one would come far too late. */
export function openMayReply(parts: MailParts | null, limits: ReplyLimits): MayReply | null {
  return parts && createMayReply([parts.smtp.from, parts.smtp.envelopeFrom], limits);
}

export interface MailService {
  /** With tokens of links: in memory. */
  readonly letters: Letters;
  /** Letters that must not be lost. */
  readonly storedLetters: StoredLetters;
  /** What the links of e-mails to recipients do. */
  readonly mailLinks: MailLinks;
  /** Sends tests over the connections of all e-mail. */
  readonly tests: MailTests;
}

/** What sending letters needs besides. */
export interface MailServiceParts {
  readonly metrics: Metrics;
  readonly served: Pick<ServedDatabase, "liveServers" | "confirmations">;
  /** Of the whole server. */
  readonly config: Door<null>["config"];
  /** Tells the server that settings changed. */
  readonly onChange: () => void;
}

/** Null without a mail server; the metrics are there then too. */
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
