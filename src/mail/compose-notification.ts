import { parseMailAddress } from "../foundation/mail-address.ts";
import { linkTo, type MailBlock, paragraph } from "./mail-parts.ts";
import { oneLine } from "./mail-text.ts";
import { besideBlocks, fieldsOf, fieldText, type MailedEvent, readEvent } from "./mailed-event.ts";
import { renderMail } from "./render-mail.ts";

/** What all e-mails about submissions have. */
export interface Notification {
  /** `msg_…` of the message that it is sent for; gives the e-mail its time too. */
  readonly id: string;
  /** As `mail.from` has it. */
  readonly from: string;
  readonly to: string;
  /** With `{form}` or `{endpoint}`, which are the form's name, and `{name of a field}`; null for ours. */
  readonly subjectTemplate: string | null;
  /** Names of the endpoint's fields of format e-mail, as declared: the first that is filled gets the answer. */
  readonly emailFields: readonly string[];
  /** Where the dashboard is, without a slash at the end; null if that is not known. */
  readonly dashboardUrl: string | null;
  /** Where the recipient ends these e-mails; null if there is no such page. */
  readonly unsubscribeUrl: string | null;
}

/** In characters; the submission's page has the rest. */
const LIMITS = { value: 10_000, all: 32_000 };
const DEFAULT_SUBJECT = "New submission: {endpoint}";

/** The e-mail about one submission. @param body the event as the outbox stores it. */
export function composeNotification(notification: Notification, body: string): Buffer {
  const { id, from, to, subjectTemplate, emailFields, unsubscribeUrl } = notification;
  const event = readEvent(body);
  const blocks = blocksOf(event, notification);
  return renderMail({
    id,
    from,
    fromName: event.endpointName,
    to,
    replyTo: replyAddress(event.data, emailFields),
    subject: subjectOf(subjectTemplate, event),
    origin: "auto-generated",
    submissionId: event.submissionId,
    unsubscribeUrl,
    blocks,
  });
}

function blocksOf(event: MailedEvent, { dashboardUrl, unsubscribeUrl }: Notification): MailBlock[] {
  const { fields, isCut } = fieldsOf(event.data, LIMITS);
  const notes = [
    ...(isCut ? [`Only a part is shown here; all of it is kept as ${event.submissionId}.`] : []),
    `Received ${event.receivedAt}, spam score ${event.spamScore}.`,
  ];
  return [
    { kind: "fields", fields },
    ...besideBlocks(event, LIMITS),
    ...notes.map(paragraph),
    ...linkTo("Open the submission", submissionUrl(event, dashboardUrl)),
    ...linkTo("Unsubscribe", unsubscribeUrl, "below"),
  ];
}

export function submissionUrl({ submissionId }: MailedEvent, dashboardUrl: string | null): string | null {
  return dashboardUrl === null ? null : `${dashboardUrl}/submissions/${submissionId}`;
}

/** The address in the first of these fields that is filled; null if that is no plain one, which a second person's must not replace. */
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

/** A field that is named `form` comes before the name of the form. A name of no field becomes nothing, and a subject of nothing becomes ours. */
function subjectOf(template: string | null, { endpointName, data }: MailedEvent): string {
  const fill = (text: string): string =>
    text.replace(/\{([^{}]*)\}/g, (_, name: string) => {
      if (name === "endpoint") return endpointName;
      if (Object.hasOwn(data, name)) return fieldText(data[name]);
      return name === "form" ? endpointName : "";
    });
  const filled = fill(template ?? DEFAULT_SUBJECT);
  return oneLine(filled, 1) === "" ? fill(DEFAULT_SUBJECT) : filled;
}
