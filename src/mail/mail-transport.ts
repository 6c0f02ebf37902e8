import type { Database } from "../database/database.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { readLabels } from "../endpoints/field-labels.ts";
import { NO_BRAND } from "../foundation/brand.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Log } from "../foundation/log.ts";
import type {
  AttemptResult,
  DeliveryPolicy,
  Message,
  Route,
  Transport,
} from "../outbox/sending/transport.ts";
import { readBrand, readTimeZone } from "../workspaces/workspace-settings.ts";
import { type Attached, chooseAttached, readAttached } from "./compose/attached-files.ts";
import { classifyMail } from "./smtp/classify-mail.ts";
import { composeNotification, type Notification } from "./compose/compose-notification.ts";
import { composeSummary } from "./compose/compose-summary.ts";
import { logMailAttempt } from "./log-mail-attempt.ts";
import { listMailFields } from "./compose/mail-fields.ts";
import { keepFrame, replaceFrame } from "./compose/mail-frames.ts";
import { type Digest, MAIL_KIND, type MailRecipient } from "./recipients/mail-recipient.ts";
import { listMailRecipients } from "./recipients/mail-recipient-store.ts";
import { readEvent, UTC } from "./compose/mailed-event.ts";
import type { SmtpResult } from "./smtp/smtp-result.ts";
import type { SmtpSender } from "./smtp/smtp-sender.ts";

/** The part of the configuration's `mail` that the outbox needs. */
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
  readonly destination: string;
  readonly settings: MailDeliverySettings;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
  /** The page on which a recipient ends its e-mails; null if there is none. */
  readonly unsubscribeUrl: (recipient: MailRecipient) => string | null;
  readonly log: Log;
}

const GATHER_SECONDS: Readonly<Record<Digest, number | null>> = { each: null, hourly: 3600, daily: 86_400 };

/** Sends the outbox's messages as e-mail over one mail server. */
export function createMailTransport(parts: MailTransportParts): Transport {
  const { db, sender, destination, settings, log } = parts;
  const attempt = createAttempt(parts);
  const routeTo = (recipient: MailRecipient): Route => ({
    destination,
    gatherSeconds: GATHER_SECONDS[recipient.settings.digest],
    send: (message) => attempt(recipient, message),
  });
  return {
    kind: MAIL_KIND,
    sharedKind: MAIL_KIND,
    policy: mailPolicyOf(settings),
    async routes() {
      const wanting = (await db.read(() => listMailRecipients(null))).filter(
        ({ state, confirmedAt }) => state === "enabled" && confirmedAt !== null,
      );
      return new Map(wanting.map((recipient) => [recipient.id, routeTo(recipient)]));
    },
    report: (ended, record) => logMailAttempt(log, destination, ended, record),
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
    limits: { total, perDestination: total, perRecipient: total },
    pace: { perMinute, perRecipientPerHour, perRecipientInWindow: { most: 10, seconds: 600 } },
  };
}

type Attempt = (recipient: MailRecipient, message: Message) => Promise<AttemptResult>;

function createAttempt(parts: MailTransportParts): Attempt {
  const { sender } = parts;
  /** Whether this mail server has accepted an e-mail of ours; a later refusal then speaks of a recipient and not of us. */
  let hasDelivered = false;
  return async (recipient, message) => {
    const send = (raw: Buffer): Promise<SmtpResult> => sender.send({ to: recipient.settings.address, raw });
    const first = await compose(parts, recipient, message);
    if (first === null) return BUSY;
    let result = await send(first.raw);
    hasDelivered ||= result.stage === "done";
    if ((first.frame.attached?.ids.length ?? 0) > 0 && isContentRefused(result)) {
      // Some servers refuse files of this size or type. The submission must arrive all the same, so it goes without them.
      const second = await withoutFiles(parts, recipient, message, first.frame);
      if (second === null) return BUSY;
      result = await send(second);
      hasDelivered ||= result.stage === "done";
    }
    return toAttempt(result, { hasDelivered });
  };
}

function isContentRefused(result: SmtpResult): boolean {
  return classifyMail(result).outcome === "content_refused";
}

interface Composed {
  readonly frame: Frame;
  readonly raw: Buffer;
}

/** Null if the database was busy. Nothing is sent then, because without its frame an e-mail could not be repeated with the same bytes. */
async function compose(
  parts: MailTransportParts,
  recipient: MailRecipient,
  message: Message,
): Promise<Composed | null> {
  return unlessBusy(async () => {
    const frame = await readFrame(parts, recipient, message);
    return { frame, raw: await composeWith(parts, recipient, message, frame) };
  });
}

/** Composes the e-mail without its files, for this attempt and all later ones; null if the database was busy. */
async function withoutFiles(
  parts: MailTransportParts,
  recipient: MailRecipient,
  message: Message,
  known: Frame,
): Promise<Buffer | null> {
  const frame = { ...known, attached: { ids: [], hasMore: true } };
  return unlessBusy(async () => {
    await parts.db.relaxedTransaction(() => replaceFrame(message.id, frame));
    return composeWith(parts, recipient, message, frame);
  });
}

async function composeWith(
  { db, from }: MailTransportParts,
  recipient: MailRecipient,
  { id, body, memberIds, memberBodies }: Message,
  { attached, ...frame }: Frame,
): Promise<Buffer> {
  // A frame of an earlier version lacks both.
  const mail = { language: "en" as const, timeZone: UTC, ...frame, id, from, to: recipient.settings.address };
  if (memberIds.length > 0) return composeSummary(mail, [body, ...memberBodies], memberIds.length + 1);
  if (attached === undefined) return composeNotification(mail, body);
  const attachments = await readAttached(db, readEvent(body, UTC).submissionId, attached);
  return composeNotification({ ...mail, attachments, hasMoreFiles: attached.hasMore }, body);
}

async function unlessBusy<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FormsvcError) return null;
    throw error;
  }
}

/**
 * The settings that may change between two attempts. The sender is not among them: an e-mail that is refused for its sender must be sent
 * with another one.
 */
type Frame = Pick<Notification, "subjectTemplate" | "emailFields" | "dashboardUrl" | "unsubscribeUrl"> &
  Partial<Pick<Notification, "language" | "timeZone" | "labels" | "brand">> & {
    readonly attached?: Attached;
  };

/** The frame from before the first attempt. It is stored without waiting for the disk, like the claim. @throws FormsvcError */
async function readFrame(
  { db, dashboardUrl, unsubscribeUrl }: MailTransportParts,
  recipient: MailRecipient,
  { id, body, memberIds }: Message,
): Promise<Frame> {
  const { endpointId, settings } = recipient;
  const submissionId = settings.attach && memberIds.length === 0 ? readEvent(body, UTC).submissionId : null;
  return await db.relaxedTransaction(function* () {
    const endpoint = yield* findEndpoint(endpointId);
    const emailFields = endpoint === undefined ? [] : yield* listMailFields(endpoint);
    const language = settings.language ?? endpoint?.settings.language ?? "en";
    const timeZone = endpoint === undefined ? UTC : ((yield* readTimeZone(endpoint.workspaceId)) ?? UTC);
    const brand = endpoint === undefined ? NO_BRAND : yield* readBrand(endpoint.workspaceId);
    const labels = endpoint === undefined ? null : yield* readLabels(endpoint);
    const attached = submissionId === null ? null : yield* chooseAttached(submissionId);
    const frame: Frame = {
      subjectTemplate: settings.subject,
      emailFields,
      language,
      timeZone,
      brand,
      dashboardUrl,
      unsubscribeUrl: unsubscribeUrl(recipient),
      ...(labels !== null && { labels }),
      ...(attached !== null && { attached }),
    };
    return yield* keepFrame(id, frame);
  });
}

const BUSY: AttemptResult = {
  outcome: "interrupted",
  blame: "own",
  message: "The database was busy; nothing was sent.",
  status: null,
  answer: null,
  retryAfterMs: null,
  durationMs: 0,
};

/** Converts a result for the outbox. @param hasDelivered as {@link classifyMail} takes it. */
export function toAttempt(
  result: SmtpResult,
  { hasDelivered }: { readonly hasDelivered: boolean },
): AttemptResult {
  const { reply, durationMs } = result;
  return {
    ...classifyMail(result, hasDelivered),
    status: reply?.code ?? null,
    answer: reply?.text ?? null,
    retryAfterMs: null,
    durationMs,
  };
}
