import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { type Brand, NO_BRAND } from "../../foundation/brand.ts";
import type { Clock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Log } from "../../foundation/log.ts";
import type { Language } from "../../languages/language.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import type { AttemptResult, DeliveryPolicy, Message, Transport } from "../../outbox/sending/transport.ts";
import { logMailAttempt } from "../log-mail-attempt.ts";
import { keepFrame } from "../mail-frames.ts";
import { MAIL_KIND } from "../mail-recipient.ts";
import { findRecipientOf, listRecipientsOf } from "../../recipients/recipient-type.ts";
import { MAIL_RECIPIENTS } from "../mail-recipient-store.ts";
import { readBrand, readTimeZone } from "../../workspaces/workspace-settings.ts";
import { type MailDeliverySettings, mailPolicyOf, toAttempt } from "../mail-transport.ts";
import { readEvent, UTC } from "../mailed-event.ts";
import type { SmtpSender } from "../smtp-sender.ts";
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
  /** Closed by whoever sends the other e-mail. */
  readonly sender: Pick<SmtpSender, "send">;
  /** `mail.from` */
  readonly from: string;
  /** The mail server, as other e-mail names it. */
  readonly destination: string;
  readonly settings: MailDeliverySettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends automatic replies, over the mail server and within the pace of all e-mail. */
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
 * A reply that may have arrived is never sent again: nobody asked for it, and its address may be that of somebody else. Replies are
 * counted when the post is stored, so none is gathered here; and strangers choose their addresses, so no refusal stops the next one.
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
  // A frame of an earlier version names none of the last ones.
  const { to, replyTo, words, language = "en", timeZone = UTC, brand = NO_BRAND } = begun;
  const event = readEvent(message.body, timeZone);
  const post = { ...event, language, reference: event.submissionId, brand };
  const raw = composeAutoReply({ id: message.id, from, to, replyTo }, words, post);
  // A stranger chose the address, so what is said of it never speaks of this server, and holds up no other e-mail.
  const result = toAttempt(await sender.send({ to, raw }), true);
  if (result.blame === "nobody") await noteSent(db, id, clock.now());
  return result;
}

/** For people. What becomes of the message does not depend on it, so it waits for no disk. */
async function noteSent(db: Database, id: string, now: number): Promise<void> {
  try {
    await db.relaxedTransaction(() => noteReplySent(id, now));
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
  }
}

/** What every attempt of a message has in common. */
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
  /** Of the reply's settings. */
  readonly id: string;
  readonly messageId: string;
  readonly submissionId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Decides once more before the reply goes out, and notes that it does. The note waits for the disk, and so the claim before it is on the
 * disk too: not even a power cut sends a reply twice.
 *
 * @returns why nothing is sent, or null if the database was busy.
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
      if (reply.onSince === null) return "The automatic reply was turned off.";
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

/** Null if the recipient is gone or gets no e-mail any more. */
function* readReplyTo({ settings }: AutoReply): Steps<string | null> {
  const recipient =
    settings.replyToId === null ? undefined : yield* findRecipientOf(MAIL_RECIPIENTS, settings.replyToId);
  return recipient !== undefined && getsAnswers(recipient) ? recipient.settings.address : null;
}

function nothingSent(blame: "message" | "own", outcome: string, message: string): AttemptResult {
  return { outcome, blame, message, status: null, answer: null, retryAfterMs: null, durationMs: 0 };
}
