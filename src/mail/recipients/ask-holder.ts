import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import type { Clock } from "../../foundation/clock.ts";
import type { Language } from "../../languages/language.ts";
import { wordingIn } from "../../languages/wording.ts";
import type { LimitedAccount } from "../../outbox/queue/account-limits.ts";
import { countUse, isWithin, type Quota, quotaKey } from "../../outbox/queue/quotas.ts";
import { findRecipientOf } from "../../recipients/recipient-type.ts";
import { startConfirmation } from "./agree-to-mail.ts";
import { mailboxOf } from "../auto-reply/automatic-address.ts";
import { isLetterWaiting, type LetterContent, queueLetter } from "../letters/letter-store.ts";
import { mailLinkUrl } from "./mail-links.ts";
import type { MailRecipient } from "./mail-recipient.ts";
import { MAIL_RECIPIENTS } from "./mail-recipient-store.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

/** Asks the holder of an address whether they want a form's submissions. The reader of such a letter may know nothing of this server. */

export interface Question {
  readonly recipient: MailRecipient;
  readonly endpointName: string;
  /** The language of the endpoint. */
  readonly language: Language;
  /** The account whose limits count. */
  readonly asker: LimitedAccount;
  /** `server.baseUrl` */
  readonly baseUrl: string;
  /** `mail.limits.confirmationsPerHour` */
  readonly perHour: number;
}
const MAX_PER_MAILBOX = 3;
const MAX_PER_ACCOUNT = 20;

/** The result of asking. `waiting`: an earlier letter has not been sent yet. `refused`: an hourly limit is reached. */
export type AskOutcome = "written" | "waiting" | "refused";

/** Writes the letter, in the current transaction. If such a letter already waits, no other is written. */
export function* askHolder(question: Question, now: number): Steps<AskOutcome> {
  const { recipient } = question;
  const { address } = recipient.settings;
  const topic = `confirmation ${recipient.id}`;
  if (yield* isLetterWaiting(address, topic)) return "waiting";
  const quotas = questionQuotas(address, question);
  if (!(yield* isWithin(quotas, now))) return "refused";
  const content = contentOf(question);
  const letter = { kind: "confirmation", topic, address, recipientId: recipient.id, content } as const;
  const id = yield* queueLetter(letter, now);
  if (id === null) return "waiting";
  yield* countUse(quotas, id, now);
  return "written";
}

/**
 * The quotas of a question. All accounts but operators share the last one, whatever they ask: each letter puts the operator's name into
 * the mailbox of somebody who did not ask for it.
 */
export function questionQuotas(
  address: string,
  { asker, perHour }: Pick<Question, "asker" | "perHour">,
): Quota[] {
  return [
    { key: quotaKey("question to", mailboxOf(address)), most: MAX_PER_MAILBOX, ms: HOUR_MS },
    { key: quotaKey("questions of", asker.accountId), most: MAX_PER_ACCOUNT, ms: HOUR_MS },
    ...(asker.isOperator ? [] : [{ key: quotaKey("questions", ""), most: perHour, ms: HOUR_MS }]),
  ];
}

/** Only an operator's letter names the form. Anybody else chooses the form's name, and could write to strangers with it. */
function contentOf({ endpointName, language, asker, baseUrl }: Question): LetterContent {
  const wording = wordingIn(language);
  const rest = { language, link: null };
  const ending = wording.text("askEnding");
  if (asker.isOperator) {
    const form = { form: endpointName };
    return {
      ...rest,
      subject: wording.text("askSubject", form),
      paragraphs: [wording.text("askText", form), ending],
    };
  }
  const { host } = new URL(baseUrl);
  const paragraphs = [wording.text("askTextAt", { host }), ending];
  return { ...rest, subject: wording.text("askSubjectAt", { host }), paragraphs };
}

interface LinkParts {
  readonly db: Database;
  readonly clock: Clock;
  /** `server.baseUrl`; null if it is not known: then no links are made. */
  readonly baseUrl: string | null;
}

/**
 * Returns a function that makes the link of a letter just before it is sent, so that the token is in no table. An earlier link stops
 * working. The function returns null if the recipient was removed or its holder has agreed meanwhile.
 */
export function createConfirmationLinks({ db, clock, baseUrl }: LinkParts) {
  return async (recipientId: string): Promise<LetterContent["link"]> => {
    if (baseUrl === null) return null;
    const made = await db.transaction(function* () {
      const recipient = yield* findRecipientOf(MAIL_RECIPIENTS, recipientId);
      if (recipient?.confirmedAt !== null || recipient.unsubscribedAt !== null) return null;
      const endpoint = yield* findEndpoint(recipient.endpointId);
      const token = yield* startConfirmation(recipientId, clock.now());
      return { token, language: endpoint?.settings.language ?? "en" };
    });
    if (made === null) return null;
    const label = wordingIn(made.language).text("askLink");
    return { label, url: mailLinkUrl(baseUrl, "confirm", recipientId, made.token) };
  };
}
