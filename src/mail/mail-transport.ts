import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import type { Log } from "../foundation/log.ts";
import type { AttemptResult, DeliveryPolicy, Message, Route, Transport } from "../outbox/transport.ts";
import { classifyMail } from "./classify-mail.ts";
import { composeNotification } from "./compose-notification.ts";
import { composeSummary } from "./compose-summary.ts";
import { logMailAttempt } from "./log-mail-attempt.ts";
import { listMailFields } from "./mail-fields.ts";
import { type Digest, MAIL_KIND, type MailRecipient } from "./mail-recipient.ts";
import { listMailRecipients } from "./mail-recipient-store.ts";
import type { SmtpResult } from "./smtp-result.ts";
import type { SmtpSender } from "./smtp-sender.ts";

/** `mail` of the configuration, as far as the outbox needs it. */
export interface MailDeliverySettings {
  readonly scheduleSeconds: readonly number[];
  readonly limits: {
    readonly total: number;
    readonly perMinute: number;
    readonly perRecipientPerHour: number;
  };
}

export interface MailTransportParts {
  readonly db: Database;
  readonly sender: Pick<SmtpSender, "send" | "close">;
  /** `mail.from` */
  readonly from: string;
  /** The mail server, as `host:port`. */
  readonly place: string;
  readonly settings: MailDeliverySettings;
  /** Where the dashboard is; null if that is not known. */
  readonly dashboardUrl: string | null;
  /** Where a recipient ends its e-mails; null if there is no such page. */
  readonly unsubscribeUrl: (recipient: MailRecipient) => string | null;
  readonly log: Log;
}

const GATHER_SECONDS: Readonly<Record<Digest, number | null>> = { each: null, hourly: 3600, daily: 86_400 };

/** Sends the outbox's messages as e-mail, over one mail server. */
export function createMailTransport(parts: MailTransportParts): Transport {
  const { db, sender, place, settings, log } = parts;
  const attempt = createAttempt(parts);
  const routeTo = (recipient: MailRecipient): Route => ({
    place,
    gatherSeconds: GATHER_SECONDS[recipient.settings.digest],
    send: (message) => attempt(recipient, message),
  });
  return {
    kind: MAIL_KIND,
    carrier: MAIL_KIND,
    policy: mailPolicyOf(settings),
    async routes() {
      const wanting = (await db.read(() => listMailRecipients(null))).filter(
        ({ state, confirmedAt }) => state === "enabled" && confirmedAt !== null,
      );
      return new Map(wanting.map((recipient) => [recipient.id, routeTo(recipient)]));
    },
    report: (ended, record) => logMailAttempt(log, place, ended, record),
    destroy: () => sender.close(),
  };
}

export function mailPolicyOf({ scheduleSeconds, limits }: MailDeliverySettings): DeliveryPolicy {
  const { total, perMinute, perRecipientPerHour } = limits;
  return {
    scheduleSeconds,
    probeSeconds: [30, 60, 120, 300, 600, 900],
    failuresUntilProbes: Number.POSITIVE_INFINITY,
    refusalsUntilStopped: 3,
    afterUnsure: { delaySeconds: 1800, most: 1 },
    limits: { total, perPlace: total, perRecipient: total },
    pace: { perMinute, perRecipientPerHour, perRecipientInWindow: { most: 10, seconds: 600 } },
  };
}

type Attempt = (recipient: MailRecipient, message: Message) => Promise<AttemptResult>;

function createAttempt(parts: MailTransportParts): Attempt {
  const { sender } = parts;
  /** Whether this mail server took an e-mail of ours: then it refuses a recipient and not us. */
  let hasDelivered = false;
  return async (recipient, message) => {
    const raw = await compose(parts, recipient, message);
    const result = await sender.send({ to: recipient.settings.address, raw });
    hasDelivered ||= result.stage === "done";
    return toAttempt(result, hasDelivered);
  };
}

async function compose(
  parts: MailTransportParts,
  recipient: MailRecipient,
  message: Message,
): Promise<Buffer> {
  const { from, dashboardUrl, unsubscribeUrl, db } = parts;
  const { address: to, subject: subjectTemplate } = recipient.settings;
  const { id, body, memberIds, memberBodies } = message;
  const common = { id, from, to, dashboardUrl, unsubscribeUrl: unsubscribeUrl(recipient) };
  if (memberIds.length > 0) return composeSummary(common, [body, ...memberBodies], memberIds.length + 1);
  const emailFields = await db.read(() => readEmailFields(recipient.endpointId));
  return composeNotification({ ...common, subjectTemplate, emailFields }, body);
}

/** The names of the endpoint's fields that hold an e-mail address. */
function* readEmailFields(endpointId: string): Steps<string[]> {
  const endpoint = yield* findEndpoint(endpointId);
  return endpoint === undefined ? [] : yield* listMailFields(endpoint);
}

/** @param hasDelivered as {@link classifyMail} takes it. */
export function toAttempt(result: SmtpResult, hasDelivered: boolean): AttemptResult {
  const { reply, durationMs } = result;
  return {
    ...classifyMail(result, hasDelivered),
    status: reply?.code ?? null,
    answer: reply?.text ?? null,
    retryAfterMs: null,
    durationMs,
  };
}
