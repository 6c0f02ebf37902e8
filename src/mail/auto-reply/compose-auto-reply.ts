import type { Brand } from "../../foundation/brand.ts";
import { plainLines } from "../../foundation/plain-text.ts";
import type { Language } from "../../languages/language.ts";
import { wordingIn } from "../../languages/wording.ts";
import { type MailBlock, paragraph } from "../mail-parts.ts";
import { oneLine } from "../mail-text.ts";
import { renderMail } from "../render-mail.ts";
import type { AutoReplySettings } from "./auto-reply.ts";
import { fillPlaceholders } from "./check-auto-reply.ts";

/** All that a reply tells of a post. Nothing that its sender wrote is among it. */
export interface AnsweredPost {
  readonly endpointName: string;
  /** The submission's id. */
  readonly reference: string;
  /** `2026-11-22 09:41 UTC` */
  readonly receivedAt: string;
  /** Of what is ours in the reply. */
  readonly language: Language;
}

/** The same, and how its workspace looks. */
export interface BrandedPost extends AnsweredPost {
  readonly brand: Brand;
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
  post: BrandedPost,
): Buffer {
  const { subject, blocks } = replyOf(words, post);
  const rest = { origin: "auto-replied", submissionId: null, unsubscribeUrl: null } as const;
  return renderMail({
    ...envelope,
    ...rest,
    language: post.language,
    fromName: post.endpointName,
    subject,
    blocks,
    brand: post.brand,
  });
}

/** The subject, and what the reply says. */
export function replyOf(
  { subject, text }: Pick<AutoReplySettings, "subject" | "text">,
  { endpointName, reference, receivedAt, language }: AnsweredPost,
): { readonly subject: string; readonly blocks: readonly MailBlock[] } {
  const wording = wordingIn(language);
  const endpoint = oneLine(endpointName, MAX_NAME_LENGTH);
  const fill = (template: string): string =>
    fillPlaceholders(template, { form: endpoint, endpoint, reference, time: receivedAt });
  const paragraphs = plainLines(text === null ? wording.text("replyText") : fill(text)).split(/\n\s*\n/);
  const facts = [
    { label: wording.text("replyForm"), value: endpoint },
    { label: wording.text("replyReference"), value: reference },
    { label: wording.text("replyReceived"), value: receivedAt },
  ];
  return {
    subject: subject === null ? wording.text("replySubject", { form: endpoint }) : fill(subject),
    blocks: [
      ...paragraphs.map(paragraph),
      { kind: "fields", fields: facts },
      paragraph(wording.text("replyWhy")),
    ],
  };
}
