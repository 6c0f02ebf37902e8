import type { Brand } from "../../foundation/brand.ts";
import { plainLines } from "../../foundation/plain-text.ts";
import type { Language } from "../../languages/language.ts";
import { wordingIn } from "../../languages/wording.ts";
import { type MailBlock, paragraph } from "../compose/mail-parts.ts";
import { oneLine } from "../compose/mail-text.ts";
import { renderMail } from "../compose/render-mail.ts";
import type { AutoReplySettings } from "./auto-reply.ts";
import { fillPlaceholders } from "./check-auto-reply.ts";

/** All that a reply says about a post. Nothing that its sender wrote is among it. */
export interface AnsweredPost {
  readonly endpointName: string;
  /** The id of the submission. */
  readonly reference: string;
  /** `2026-11-22 09:41 UTC` */
  readonly receivedAt: string;
  /** The language of the built-in texts. */
  readonly language: Language;
}

/** Also has the brand of the workspace. */
export interface BrandedPost extends AnsweredPost {
  readonly brand: Brand;
}

export interface ReplyEnvelope {
  /** `msg_…` of the message. */
  readonly id: string;
  /** `mail.from` */
  readonly from: string;
  readonly to: string;
  /** The address that gets the answers; null means `from`. */
  readonly replyTo: string | null;
}

const MAX_NAME_LENGTH = 100;

/** The reply to the sender of a post. The same post and words give the same bytes. */
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

/** The subject and the text of the reply. */
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
