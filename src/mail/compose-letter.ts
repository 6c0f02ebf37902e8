import { html } from "../foundation/html.ts";
import { oneLine, renderMail } from "./render-mail.ts";
import { mailPage } from "./mail-page.ts";

/** A few sentences of ours, like the confirmation of an address. */
export interface Letter {
  /** `msg_…` */
  readonly id: string;
  readonly from: string;
  readonly fromName: string;
  readonly to: string;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Shown after the paragraphs; null if there is none. */
  readonly link: MailLink | null;
  readonly origin: "auto-generated" | "auto-replied";
}

/** An address of ours, and the words on it. */
export interface MailLink {
  readonly label: string;
  readonly url: string;
}

const MAX_PARAGRAPH_LENGTH = 4000;

/** The bytes of the letter. A line break in a paragraph is a space. */
export function composeLetter({ paragraphs, link, ...letter }: Letter): Buffer {
  const shown = paragraphs.map((text) => oneLine(text, MAX_PARAGRAPH_LENGTH));
  const text = [...shown, ...(link === null ? [] : [`${link.label}:\n${link.url}`])].join("\n\n");
  const content = html`${shown.map((each) => html`<p>${each}</p>`)}${link !== null && button(link)}`;
  const page = mailPage(content);
  return renderMail({ ...letter, replyTo: null, unsubscribeUrl: null, text: `${text}\n`, html: page });
}

/** Shows the address too: a reader may want to see where the button leads. */
function button({ label, url }: MailLink) {
  return html`<p><a href="${url}">${label}</a></p>
<p>${url}</p>`;
}
