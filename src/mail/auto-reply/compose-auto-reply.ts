import { plainLines } from "../../foundation/plain-text.ts";
import { type MailBlock, paragraph } from "../mail-parts.ts";
import { oneLine } from "../mail-text.ts";
import { renderMail } from "../render-mail.ts";
import { type AutoReplySettings, DEFAULT_SUBJECT, DEFAULT_TEXT } from "./auto-reply.ts";
import { fillPlaceholders } from "./check-auto-reply.ts";

/** All that a reply tells of a post. Nothing that its sender wrote is among it. */
export interface AnsweredPost {
  readonly endpointName: string;
  /** The submission's id. */
  readonly reference: string;
  /** `2026-11-22 09:41 UTC` */
  readonly receivedAt: string;
}

export interface ReplyEnvelope {
  /** `msg_…` of the message. */
  readonly id: string;
  /** As `mail.from` has it. */
  readonly from: string;
  readonly to: string;
  /** Who gets the answers; null for the sender. */
  readonly replyTo: string | null;
}

const MAX_NAME_LENGTH = 100;

/** The reply to whoever posted; the same post and words give the same bytes. */
export function composeAutoReply(
  envelope: ReplyEnvelope,
  words: Pick<AutoReplySettings, "subject" | "text">,
  post: AnsweredPost,
): Buffer {
  const { subject, blocks } = replyOf(words, post);
  const rest = { origin: "auto-replied", submissionId: null, unsubscribeUrl: null } as const;
  return renderMail({ ...envelope, ...rest, fromName: post.endpointName, subject, blocks });
}

/** The subject, and what the reply says. */
export function replyOf(
  { subject, text }: Pick<AutoReplySettings, "subject" | "text">,
  { endpointName, reference, receivedAt }: AnsweredPost,
): { readonly subject: string; readonly blocks: readonly MailBlock[] } {
  const endpoint = oneLine(endpointName, MAX_NAME_LENGTH);
  const fill = (template: string): string =>
    fillPlaceholders(template, { form: endpoint, endpoint, reference, time: receivedAt });
  const paragraphs = plainLines(fill(text ?? DEFAULT_TEXT)).split(/\n\s*\n/);
  const facts = [
    { label: "Form", value: endpoint },
    { label: "Reference", value: reference },
    { label: "Received", value: receivedAt },
  ];
  return {
    subject: fill(subject ?? DEFAULT_SUBJECT),
    blocks: [...paragraphs.map(paragraph), { kind: "fields", fields: facts }, paragraph(WHY)],
  };
}

const WHY =
  "This is an automatic e-mail. You get it because somebody wrote your address into this form. If it was not you, you need not do anything.";
