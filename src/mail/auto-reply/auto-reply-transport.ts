import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { type Brand, NO_BRAND } from "../../foundation/brand.ts";
import type { Clock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { timeOfId } from "../../foundation/id.ts";
import type { Log } from "../../foundation/log.ts";
import type { Language } from "../../languages/language.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import type { AttemptResult, DeliveryPolicy, Message, Transport } from "../../outbox/sending/transport.ts";
import { logMailAttempt } from "../log-mail-attempt.ts";
import { keepFrame } from "../compose/mail-frames.ts";
import { MAIL_KIND } from "../recipients/mail-recipient.ts";
import { findRecipientOf, listRecipientsOf } from "../../recipients/recipient-type.ts";
import { MAIL_RECIPIENTS } from "../recipients/mail-recipient-store.ts";
import { readBrand, readTimeZone } from "../../workspaces/workspace-settings.ts";
import { type MailDeliverySettings, mailPolicyOf, toAttempt } from "../mail-transport.ts";
import { readEvent, UTC } from "../compose/mailed-event.ts";
import type { SmtpSender } from "../smtp/smtp-sender.ts";
import type { AutoReply } from "./auto-reply.ts";
import {
  isSuppressed,
  noteReplyBegun,
  noteReplySent,
  readReplyLanguage,
  REPLIES,
} from "./auto-reply-store.ts";
import { getsAnswers } from "./check-auto-reply-settings.ts";
import { composeAutoReply } from "./compose-auto-reply.ts";
import { replyAddress } from "./may-reply.ts";

export interface AutoReplyTransportParts {
  readonly db: Database;
  /** Shared with the transport of other e-mail, which closes it. */
  readonly sender: Pick<SmtpSender, "send">;
  /** `mail.from` */
  readonly from: string;
  /** The mail server, named as in the transport of other e-mail. */
  readonly destination: string;
  readonly settings: MailDeliverySettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends automatic replies over the mail server, within the pace of all e-mail. */
export function createAutoReplyTransport(parts: AutoReplyTransportParts): Transport {
  const { db, destination, settings, log } = parts;
  return {
    kind: REPLY_KIND,
    sharedKind: MAIL_KIND,
    policy: autoReplyPolicyOf(settings),
    async routes() {
      const on = (await db.read(() => listRecipientsOf(REPLIES, null))).filter(
        ({ onSince }) => onSince !== null,
      );
      const routeTo = ({ id }: AutoReply) => ({
        destination,
        gatherSeconds: null,
        send: (message: Message) => attempt(parts, id, message),
      });
      return new Map(on.map((reply) => [reply.id, routeTo(reply)]));
    },
    report: (ended, record) => logMailAttempt(log, destination, ended, record),
    destroy: () => Promise.resolve(),
  };
}

/**
 * The policy of automatic replies. A reply that may have arrived is never sent again: nobody asked for it, and its address may belong to
 * somebody else. Replies are counted when the post is stored, so none is gathered here. Strangers choose the addresses, so refusals never
 * stop the recipient.
 */
export function autoReplyPolicyOf(settings: MailDeliverySettings): DeliveryPolicy {
  const { pace, ...policy } = mailPolicyOf(settings);
  const most = Number.POSITIVE_INFINITY;
  return {
    ...policy,
    refusalsUntilStopped: most,
    afterUnsure: { delaySeconds: 0, most: 0 },
    pace: pace && { ...pace, perRecipientPerHour: most, perRecipientInWindow: { most, seconds: 600 } },
  };
}

async function attempt(
  { db, sender, from, clock }: AutoReplyTransportParts,
  id: string,
  message: Message,
): Promise<AttemptResult> {
  const { data, submissionId } = readEvent(message.body, UTC);
  const begun = await begin(db, { id, messageId: message.id, submissionId, data }, clock.now());
  if (typeof begun === "string") return nothingSent("message", "suppressed", begun);
  if (begun === null) return nothingSent("own", "interrupted", "The database was busy; nothing was sent.");
  // A frame of an earlier version lacks the last members.
  const { to, replyTo, words, language = "en", timeZone = UTC, brand = NO_BRAND } = begun;
  const event = readEvent(message.body, timeZone);
  const post = { ...event, language, reference: event.submissionId, brand };
  const raw = composeAutoReply({ id: message.id, from, to, replyTo }, words, post);
  // A stranger chose the address, so a refusal of it says nothing about this server, and holds up no other e-mail.
  const result = toAttempt(await sender.send({ to, raw }), { hasDelivered: true });
  if (result.blame === "nobody") await noteSent(db, id, clock.now());
  return result;
}

/** Notes the time for people to see. No decision depends on it, so the commit does not wait for the disk. */
async function noteSent(db: Database, id: string, now: number): Promise<void> {
  try {
    await db.relaxedTransaction(() => noteReplySent(id, now));
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
  }
}

/** The parts that all attempts of a message have in common. */
interface Frame {
  readonly words: Pick<AutoReply["settings"], "subject" | "text">;
  readonly replyTo: string | null;
  readonly language?: Language;
  readonly timeZone?: string;
  readonly brand?: Brand;
}

interface Begun extends Frame {
  readonly to: string;
}

interface Beginning {
  /** The id of the automatic reply. */
  readonly id: string;
  readonly messageId: string;
  readonly submissionId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Checks again, just before a reply is sent, whether it may go, and notes that it begins. The commit waits for the disk, and brings the
 * claim before it to the disk too, so that not even a power cut sends a reply twice.
 *
 * @returns the reply; a sentence with the reason if nothing is sent; null if the database was busy.
 */
async function begin(
  db: Database,
  { id, messageId, submissionId, data }: Beginning,
  now: number,
): Promise<Begun | string | null> {
  try {
    return await db.transaction(function* (): Steps<Begun | string> {
      const reply = yield* findRecipientOf(REPLIES, id);
      const to = reply === undefined ? null : replyAddress(data, reply.settings.field);
      if (reply === undefined || to === null) return "The post has no address to reply to.";
      // A message that was being sent when the reply was turned off was not dropped, and the reply may be on again, for another field.
      if (reply.onSince === null || timeOfId(messageId) < reply.onSince)
        return "The automatic reply was turned off.";
      if (yield* isSuppressed(to))
        return "The holder of the address wants no e-mail, or it is refused there.";
      yield* noteReplyBegun(id, now);
      const { subject, text } = reply.settings;
      const endpoint = yield* findEndpoint(reply.endpointId);
      const language = (yield* readReplyLanguage(submissionId)) ?? endpoint?.settings.language ?? "en";
      const timeZone = endpoint === undefined ? UTC : ((yield* readTimeZone(endpoint.workspaceId)) ?? UTC);
      const frame: Frame = {
        words: { subject, text },
        replyTo: yield* readReplyTo(reply),
        language,
        timeZone,
        brand: endpoint === undefined ? NO_BRAND : yield* readBrand(endpoint.workspaceId),
      };
      return { to, ...(yield* keepFrame(messageId, frame)) };
    });
  } catch (error) {
    if (error instanceof FormsvcError) return null;
    throw error;
  }
}

/** The address that gets the answers; null if there is no such recipient any more, or if it gets no e-mail. */
function* readReplyTo({ settings }: AutoReply): Steps<string | null> {
  const recipient =
    settings.replyToId === null ? undefined : yield* findRecipientOf(MAIL_RECIPIENTS, settings.replyToId);
  return recipient !== undefined && getsAnswers(recipient) ? recipient.settings.address : null;
}

function nothingSent(blame: "message" | "own", outcome: string, message: string): AttemptResult {
  return { outcome, blame, message, status: null, answer: null, retryAfterMs: null, durationMs: 0 };
}
