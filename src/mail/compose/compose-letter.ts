import type { Language } from "../../languages/language.ts";
import { linkTo, paragraph } from "./mail-parts.ts";
import { oneLine } from "./mail-text.ts";
import { renderMail } from "./render-mail.ts";

/** A few sentences of the server itself, like the confirmation of an address. */
export interface LetterMessage {
  /** `msg_…` */
  readonly id: string;
  /** The language of the built-in texts; absent means English. */
  readonly language?: Language;
  readonly from: string;
  readonly fromName: string;
  readonly to: string;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** A button below the paragraphs that leads to an address of this server; null if there is none. */
  readonly link: { readonly label: string; readonly url: string } | null;
  readonly origin: "auto-generated" | "auto-replied";
}

const MAX_PARAGRAPH_LENGTH = 4000;

/** The bytes of the letter. A line break in a paragraph becomes a space. */
export function composeLetter({ language = "en", paragraphs, link, ...letter }: LetterMessage): Buffer {
  const blocks = [
    ...paragraphs.map((text) => paragraph(oneLine(text, MAX_PARAGRAPH_LENGTH))),
    ...(link === null ? [] : linkTo(link.label, link.url)),
  ];
  return renderMail({
    ...letter,
    language,
    blocks,
    replyTo: null,
    submissionId: null,
    unsubscribeUrl: null,
  });
}
