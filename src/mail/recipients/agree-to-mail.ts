import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { setConfirmed, setRecipientEnabled } from "../../outbox/queue/recipient-store.ts";
import { findRecipientOf } from "../../recipients/recipient-type.ts";
import { CONFIRMATION_MS, type MailRecipient } from "./mail-recipient.ts";
import {
  getMailRecipient,
  readConfirmation,
  MAIL_RECIPIENTS,
  setUnsubscribed,
  writeConfirmation,
} from "./mail-recipient-store.ts";

/** What the holder of an address decides: to get e-mail about an endpoint's submissions, and to get no more of it. */

const TOKEN_BYTES = 24;

/** One sentence for every link that does not work, so that it reveals nothing about what exists. */
const DEAD_LINK =
  "The link does not work, or no longer: it was used, replaced, or is older than 7 days. Whoever has agreed by it needs do nothing more.";

/**
 * Begins to ask the holder of an address whether they agree. A link that was made before stops working.
 *
 * @returns the token for the link, which is stored only as a hash.
 * @throws not_found; conflict if the holder has already agreed, or has unsubscribed.
 */
export function* startConfirmation(id: string, now: number): Steps<string> {
  const recipient = yield* getMailRecipient(id);
  if (recipient.unsubscribedAt !== null)
    throw new FormsvcError("conflict", `${recipient.settings.address} unsubscribed and is not asked again`);
  if (recipient.confirmedAt !== null)
    throw new FormsvcError("conflict", `${recipient.settings.address} is confirmed already`);
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  yield* writeConfirmation(id, { hash: sha256(token), expiresAt: now + CONFIRMATION_MS });
  return token;
}

/**
 * The recipient that a confirmation link is about; changes nothing. @throws not_found, in the same words whatever is wrong with the link.
 */
export function* readAsked(id: string, token: string, now: number): Steps<MailRecipient> {
  const recipient = yield* findRecipientOf(MAIL_RECIPIENTS, id);
  const open = yield* readConfirmation(id);
  const isRight = timingSafeEqual(sha256(token), open?.hash ?? Buffer.alloc(32));
  if (recipient === undefined || open === null || !isRight || open.expiresAt <= now)
    throw new FormsvcError("not_found", DEAD_LINK);
  return recipient;
}

/** Records that the holder agrees: from now on the recipient gets e-mail. @throws not_found as {@link readAsked} does. */
export function* confirmMailRecipient(id: string, token: string, now: number): Steps<MailRecipient> {
  const recipient = yield* readAsked(id, token, now);
  yield* setConfirmed(id, now);
  yield* writeConfirmation(id, null);
  return yield* getMailRecipient(recipient.id);
}

/**
 * The recipient that an unsubscription link is about; changes nothing. @throws not_found, in the same words whatever is wrong with the
 * link.
 */
export function* readSubscribed(id: string, token: string): Steps<MailRecipient> {
  const recipient = yield* findRecipientOf(MAIL_RECIPIENTS, id);
  const isRight = timingSafeEqual(sha256(token), sha256(recipient?.unsubscribeToken ?? ""));
  if (recipient === undefined || !isRight)
    throw new FormsvcError("not_found", "The link does not work: the recipient is no longer there.");
  return recipient;
}

/**
 * Records that the holder wants no more e-mail: from now on nothing is queued. Messages that already wait are held by the next alignment,
 * which the server does when it notices the change.
 */
export function* unsubscribe({ id }: MailRecipient, now: number): Steps<MailRecipient> {
  yield* setUnsubscribed(id, now);
  yield* setRecipientEnabled(id, false);
  yield* setConfirmed(id, null);
  return yield* getMailRecipient(id);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
