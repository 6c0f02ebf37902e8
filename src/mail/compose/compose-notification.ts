import type { FieldLabels } from "../../endpoints/field-labels.ts";
import type { Brand } from "../../foundation/brand.ts";
import { parseMailAddress } from "../../foundation/mail-address.ts";
import type { Language } from "../../languages/language.ts";
import { valueIn } from "../../languages/value-in-words.ts";
import { type Wording, wordingIn } from "../../languages/wording.ts";
import type { EncodedFile } from "./mail-attachment.ts";
import { linkTo, type MailBlock, paragraph } from "./mail-parts.ts";
import { oneLine } from "./mail-text.ts";
import { besideBlocks, fieldsOf, type MailedEvent, readEvent } from "./mailed-event.ts";
import { renderMail } from "./render-mail.ts";

/** The members that all e-mails about submissions have. */
export interface Notification {
  /** `msg_…`: the id of the message that the e-mail is sent for, which also gives the e-mail its date. */
  readonly id: string;
  /** `mail.from` */
  readonly from: string;
  readonly to: string;
  readonly language: Language;
  /** The time zone of the times, by its name in the IANA database. */
  readonly timeZone: string;
  /** A template with `{form}` or `{endpoint}`, which stand for the form's name, and `{name of a field}`; null means the built-in one. */
  readonly subjectTemplate: string | null;
  /** The names of the endpoint's fields of format e-mail, in the order of the schema: the first one that is filled gets the answer. */
  readonly emailFields: readonly string[];
  /** The labels of the endpoint's fields; absent if no field has one. */
  readonly labels?: FieldLabels;
  /** The address of the dashboard, without a final slash; null if it is not known. */
  readonly dashboardUrl: string | null;
  /** The page on which the recipient ends these e-mails; null if there is none. */
  readonly unsubscribeUrl: string | null;
  /** The brand of the workspace; absent if it has none. */
  readonly brand?: Brand;
  /** The submission's files that the e-mail brings; absent if there are none. */
  readonly attachments?: readonly EncodedFile[];
  /** Whether some files of the submission had no room. */
  readonly hasMoreFiles?: boolean;
}

/** The largest numbers of characters that are shown. The submission's page has the rest. */
const LIMITS = { value: 10_000, all: 32_000 };

/** Composes the e-mail about one submission. @param body the event as the outbox stores it. */
export function composeNotification(notification: Notification, body: string): Buffer {
  const { id, from, to, subjectTemplate, emailFields, unsubscribeUrl } = notification;
  const event = readEvent(body, notification.timeZone);
  const wording = wordingIn(notification.language);
  const blocks = blocksOf(event, notification, wording);
  return renderMail({
    language: notification.language,
    id,
    from,
    fromName: event.endpointName,
    to,
    replyTo: replyAddress(event.data, emailFields),
    subject: subjectOf(subjectTemplate, event, wording),
    origin: "auto-generated",
    submissionId: event.submissionId,
    unsubscribeUrl,
    blocks,
    ...(notification.brand && { brand: notification.brand }),
    ...(notification.attachments && { attachments: notification.attachments }),
  });
}

function blocksOf(
  event: MailedEvent,
  { dashboardUrl, unsubscribeUrl, labels, hasMoreFiles = false }: Notification,
  wording: Wording,
): MailBlock[] {
  const { fields, isCut } = fieldsOf(event.data, LIMITS, { ...(labels && { labels }), wording });
  const notes = [
    ...(isCut ? [wording.text("partShown", { reference: event.submissionId })] : []),
    ...(hasMoreFiles ? [wording.text("filesTooLarge")] : []),
    wording.text("receivedAt", { time: event.receivedAt, score: event.spamScore }),
  ];
  return [
    { kind: "fields", fields },
    ...besideBlocks(event, LIMITS, wording),
    ...notes.map(paragraph),
    ...linkTo(wording.text("openSubmission"), submissionUrl(event, dashboardUrl)),
    ...linkTo(wording.text("unsubscribe"), unsubscribeUrl, "below"),
  ];
}

export function submissionUrl({ submissionId }: MailedEvent, dashboardUrl: string | null): string | null {
  return dashboardUrl === null ? null : `${dashboardUrl}/submissions/${submissionId}`;
}

/**
 * The address in the first of these fields that is filled; null if it is not a plain address. A later field is then not used, because it
 * may hold another person's address.
 */
function replyAddress(
  data: Readonly<Record<string, unknown>>,
  emailFields: readonly string[],
): string | null {
  for (const name of emailFields) {
    const value = Object.hasOwn(data, name) ? data[name] : null;
    if (typeof value === "string" && value.trim() !== "") return parseMailAddress(value);
  }
  return null;
}

/**
 * Fills the template. A field with the name `form` comes before the name of the form. An unknown name becomes empty, and an empty subject
 * becomes the built-in one.
 */
function subjectOf(template: string | null, { endpointName, data }: MailedEvent, wording: Wording): string {
  const fill = (text: string): string =>
    text.replace(/\{([^{}]*)\}/g, (_, name: string) => {
      if (name === "endpoint") return endpointName;
      if (Object.hasOwn(data, name)) return valueIn(data[name], wording);
      return name === "form" ? endpointName : "";
    });
  const filled = template === null ? "" : fill(template);
  return oneLine(filled, 1) === "" ? wording.text("newSubmission", { form: endpointName }) : filled;
}
