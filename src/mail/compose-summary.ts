import { type Html, html } from "../foundation/html.ts";
import { htmlFields, htmlNotes, linksOf, type Notification, textFields } from "./compose-notification.ts";
import { mailPage } from "./mail-page.ts";
import { fieldsOf, type MailedEvent, readEvent } from "./mailed-event.ts";
import { renderMail } from "./render-mail.ts";

export type Summary = Omit<Notification, "subjectTemplate" | "emailFields">;

/** Submissions that a summary shows, and characters of each. */
export const MAX_SUMMARY_EVENTS = 50;
const LIMITS = { value: 200, all: 600 };

/**
 * The e-mail about several submissions of one endpoint.
 *
 * @param bodies the events as the outbox stores them, in their order; at least one, and the first {@link MAX_SUMMARY_EVENTS} are enough.
 * @param count how many submissions it is about.
 */
export function composeSummary(summary: Summary, bodies: readonly Buffer[], count: number): Buffer {
  const { id, from, to, dashboardUrl, unsubscribeUrl } = summary;
  const events = bodies.slice(0, MAX_SUMMARY_EVENTS).map(readEvent);
  const endpointName = events[0]?.endpointName ?? "";
  const left = count - events.length;
  const notes = left > 0 ? [`And ${left} more.`] : [];
  const end = unsubscribeUrl === null ? [] : [{ label: "Unsubscribe", url: unsubscribeUrl }];
  const items = events.map((event) => itemOf(event, dashboardUrl));
  return renderMail({
    id,
    from,
    fromName: endpointName,
    to,
    replyTo: null,
    subject: `${count} new submissions: ${endpointName}`,
    origin: "auto-generated",
    unsubscribeUrl,
    text: `${[...items.map(({ text }) => text), ...notes, ...end.map(({ label, url }) => `${label}:\n${url}`)].join("\n\n")}\n`,
    html: mailPage(html`${items.map((item) => item.html)}${htmlNotes(notes, end)}`),
  });
}

function itemOf(event: MailedEvent, dashboardUrl: string | null): { text: string; html: Html } {
  const { fields } = fieldsOf(event.data, LIMITS);
  const links = linksOf(event, dashboardUrl, null);
  return {
    text: [event.createdAt, textFields(fields), ...links.map(({ url }) => url)].join("\n"),
    html: html`<h2>${event.createdAt}</h2>
${htmlFields(fields)}${htmlNotes([], links)}<hr>
`,
  };
}
