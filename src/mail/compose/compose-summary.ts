import { type Notification, submissionUrl } from "./compose-notification.ts";
import { type Wording, wordingIn } from "../../languages/wording.ts";
import { linkTo, type MailBlock, paragraph } from "./mail-parts.ts";
import { besideBlocks, fieldsOf, type MailedEvent, readEvent } from "./mailed-event.ts";
import { renderMail } from "./render-mail.ts";

export type Summary = Omit<Notification, "subjectTemplate" | "emailFields">;

/** The largest number of submissions that a summary shows, and of characters of each. */
const MAX_SUMMARY_EVENTS = 50;
const LIMITS = { value: 200, all: 600 };

/**
 * Composes the e-mail about several submissions of one endpoint.
 *
 * @param bodies the events as the outbox stores them, in their order, at least one. The first {@link MAX_SUMMARY_EVENTS} are shown.
 * @param count the number of submissions.
 */
export function composeSummary(summary: Summary, bodies: readonly string[], count: number): Buffer {
  const { id, from, to, unsubscribeUrl } = summary;
  const wording = wordingIn(summary.language);
  const events = bodies.slice(0, MAX_SUMMARY_EVENTS).map((body) => readEvent(body, summary.timeZone));
  const endpointName = events[0]?.endpointName ?? "";
  const left = count - events.length;
  const blocks = [
    ...events.flatMap((event) => eventBlocks(event, summary, wording)),
    ...(left > 0 ? [paragraph(wording.text("moreSubmissions", { count: left }))] : []),
    ...linkTo(wording.text("unsubscribe"), unsubscribeUrl, "below"),
  ];
  return renderMail({
    language: summary.language,
    id,
    from,
    fromName: endpointName,
    to,
    replyTo: null,
    subject: wording.amount("newSubmissions", count, { form: endpointName }),
    origin: "auto-generated",
    submissionId: null,
    unsubscribeUrl,
    blocks,
    ...(summary.brand && { brand: summary.brand }),
  });
}

function eventBlocks(event: MailedEvent, { dashboardUrl, labels }: Summary, wording: Wording): MailBlock[] {
  const { fields } = fieldsOf(event.data, LIMITS, { ...(labels && { labels }), wording });
  return [
    { kind: "heading", text: event.receivedAt },
    { kind: "fields", fields },
    ...besideBlocks(event, LIMITS, wording),
    ...linkTo(wording.text("openSubmission"), submissionUrl(event, dashboardUrl), "line"),
  ];
}
