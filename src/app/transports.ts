import type { Config } from "../config/config.ts";
import { replyLimitsOf } from "../mail/auto-reply/reply-limits.ts";
import { type MailParts, openMailTransports, openMayReply } from "../mail/open-mail.ts";
import { readSmtpSettings, sendsPasswordUnasked } from "../mail/smtp/read-smtp-settings.ts";
import { createSmtpSender } from "../mail/smtp/smtp-sender.ts";
import { mailPasswordInClear } from "../foundation/delivery-events.ts";
import type { MayReply } from "../outbox/queue/outbox.ts";
import type { Transport } from "../outbox/sending/transport.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { parseAllowedNetworks } from "../webhooks/address-guard.ts";
import { createHostResolver } from "../webhooks/resolve-host.ts";
import { createHttpSender, type HttpSender } from "../webhooks/send.ts";
import { TestSlots } from "../webhooks/test-slots.ts";
import { createWebhookTransport } from "../webhooks/webhook-transport.ts";
import type { ServiceParts } from "./parts.ts";

/** What sends to webhooks; it may be used until the deliverer stops. */
export interface WebhookService {
  readonly sender: HttpSender;
  /** The slots for tests of webhooks, which use the same sender. */
  readonly testSlots: TestSlots;
}

interface Transports {
  readonly transports: readonly Transport[];
  readonly webhooks: WebhookService;
  /** Null without a mail server; e-mail then waits. */
  readonly mail: MailParts | null;
  /** Null without a mail server. */
  readonly mayReply: MayReply | null;
}

/** @throws config_invalid if a file that the settings under `mail` name cannot be read. */
export function openTransports(parts: ServiceParts, keyring: Keyring): Transports {
  const { db, config, clock, log } = parts;
  const dashboardUrl = dashboardUrlOf(config);
  const settings = config.webhooks;
  const sender = createWebhookSender(config);
  const webhooks = createWebhookTransport({ db, keyring, sender, dashboardUrl, settings, clock, log });
  const mail = readMailParts(parts);
  return {
    transports: mail === null ? [webhooks] : [webhooks, ...openMailTransports(mail)],
    webhooks: { sender, testSlots: new TestSlots() },
    mail,
    mayReply: openMayReply(mail, replyLimitsOf(config)),
  };
}

/** Reads what sending e-mail needs; null without a mail server. E-mail of every kind shares the connections. */
function readMailParts({ db, config, clock, log }: ServiceParts): MailParts | null {
  const { baseUrl } = config.server;
  const smtp = readSmtpSettings(config.mail, baseUrl);
  if (smtp === null) return null;
  if (sendsPasswordUnasked(config.mail)) mailPasswordInClear(log, { host: smtp.host });
  const dashboardUrl = dashboardUrlOf(config);
  return {
    db,
    smtp,
    sender: createSmtpSender(smtp),
    settings: config.mail,
    baseUrl,
    dashboardUrl,
    clock,
    log,
  };
}

/** The address at which people open the dashboard; null if it is off, on another address, or if the public address is not known. */
export function dashboardUrlOf({ server, dashboard }: Config): string | null {
  const isThere = dashboard.enabled && dashboard.listen === null;
  return isThere && server.baseUrl !== null ? `${server.baseUrl}/dashboard` : null;
}

/** Creates a sender with the time limit and the address rules of the configuration. */
export function createWebhookSender({ webhooks }: Config): HttpSender {
  return createHttpSender({
    allowed: parseAllowedNetworks(webhooks.allowNetworks),
    timeoutMs: webhooks.timeoutMs,
    resolveHost: createHostResolver(),
  });
}
