import { type Html, html } from "../foundation/html.ts";
import { parseMailAddress } from "../foundation/mail-address.ts";
import type { MailLink } from "./compose-letter.ts";
import { mailPage } from "./mail-page.ts";
import { fieldsOf, fieldText, type MailedEvent, type MailedField, readEvent } from "./mailed-event.ts";
import { renderMail } from "./render-mail.ts";

/** What all e-mails about submissions have. */
export interface Notification {
  /** `msg_…` of the message that it is sent for; gives the e-mail its time too. */
  readonly id: string;
  /** As `mail.from` has it. */
  readonly from: string;
  readonly to: string;
  /** With `{endpoint}` and `{name of a field}`; null for ours. */
  readonly subjectTemplate: string | null;
  /** Names of the endpoint's fields of format e-mail: one valid address in them gets the answer. */
  readonly emailFields: readonly string[];
  /** Where the dashboard is, without a slash at the end; null if that is not known. */
  readonly dashboardUrl: string | null;
  /** Where the recipient ends these e-mails; null if there is no such page. */
  readonly unsubscribeUrl: string | null;
}

/** Characters of one value, and of the whole submission; the page in the dashboard has the rest. */
const LIMITS = { value: 10_000, all: 32_000 };
const DEFAULT_SUBJECT = "New submission: {endpoint}";

/** The e-mail about one submission. @param body the event as the outbox stores it. */
export function composeNotification(notification: Notification, body: Buffer): Buffer {
  const { id, from, to, subjectTemplate, emailFields, dashboardUrl, unsubscribeUrl } = notification;
  const event = readEvent(body);
  const { fields, isCut } = fieldsOf(event.data, LIMITS);
  const notes = isCut ? [`Only a part is shown here; the whole is kept as ${event.submissionId}.`] : [];
  const links = linksOf(event, dashboardUrl, unsubscribeUrl);
  return renderMail({
    id,
    from,
    fromName: event.endpointName,
    to,
    replyTo: replyAddress(event.data, emailFields),
    subject: fillTemplate(subjectTemplate ?? DEFAULT_SUBJECT, event),
    origin: "auto-generated",
    unsubscribeUrl,
    text: textPart(fields, notes, links),
    html: mailPage(html`${htmlFields(fields)}${htmlNotes(notes, links)}`),
  });
}

/** The only valid address in fields that hold one; null if there is none or more than one. */
function replyAddress(
  data: Readonly<Record<string, unknown>>,
  emailFields: readonly string[],
): string | null {
  const addresses = emailFields
    .map((name) => (Object.hasOwn(data, name) ? data[name] : null))
    .map((value) => (typeof value === "string" ? parseMailAddress(value) : null))
    .filter((address) => address !== null);
  return addresses.length === 1 ? (addresses[0] ?? null) : null;
}

/** An unknown name becomes nothing. */
function fillTemplate(template: string, { endpointName, data }: MailedEvent): string {
  return template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    if (name === "endpoint") return endpointName;
    return Object.hasOwn(data, name) ? fieldText(data[name]) : "";
  });
}

export function linksOf(
  { submissionId }: Pick<MailedEvent, "submissionId">,
  dashboardUrl: string | null,
  unsubscribeUrl: string | null,
): MailLink[] {
  return [
    ...(dashboardUrl === null
      ? []
      : [{ label: "Open the submission", url: `${dashboardUrl}/submissions/${submissionId}` }]),
    ...(unsubscribeUrl === null ? [] : [{ label: "Unsubscribe", url: unsubscribeUrl }]),
  ];
}

export function textFields(fields: readonly MailedField[]): string {
  return fields
    .map(({ label, value }) => (value.includes("\n") ? `${label}:\n${value}\n` : `${label}: ${value}`))
    .join("\n");
}

function textPart(
  fields: readonly MailedField[],
  notes: readonly string[],
  links: readonly MailLink[],
): string {
  const end = links.map(({ label, url }) => `${label}:\n${url}`);
  return `${[textFields(fields), ...notes, ...end].join("\n\n")}\n`;
}

export function htmlFields(fields: readonly MailedField[]): Html {
  const row = ({ label, value }: MailedField) =>
    html`<tr><th align="left" valign="top">${label}</th><td style="white-space: pre-wrap">${value}</td></tr>
`;
  return html`<table cellpadding="4">
${fields.map(row)}</table>
`;
}

export function htmlNotes(notes: readonly string[], links: readonly MailLink[]): Html {
  return html`${notes.map(
    (note) => html`<p>${note}</p>
`,
  )}${links.map(
    ({ label, url }) => html`<p><a href="${url}">${label}</a></p>
`,
  )}`;
}
