import type { FastifyReply, FastifyRequest } from "fastify";
import { html, joinHtml } from "../../foundation/html.ts";
import { acceptedLanguage, type Language } from "../../languages/language.ts";
import { type TextKey, wordingIn } from "../../languages/wording.ts";
import { pagePolicy, sendPage, servicePage } from "./visitor-page.ts";

/** A page for a link that leads nowhere. */
export interface DeadLinkPage {
  readonly title: TextKey;
  /** What happened, and what to do next. */
  readonly lines: readonly TextKey[];
  /** The code of what went wrong, for somebody who looks for the reason; absent if the link is just dead. */
  readonly error?: string;
}

/** The language of a reader of whom nothing is known. */
export function languageOf({ headers }: FastifyRequest): Language {
  return acceptedLanguage(headers["accept-language"]) ?? "en";
}

/** Sends the page in the language of the reader's browser. The caller has set the status. */
export function sendDeadLink(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { title, lines, error }: DeadLinkPage,
): FastifyReply {
  const language = languageOf(request);
  const wording = wordingIn(language);
  const paragraphs = lines.map((key) => html`<p>${asSentence(wording.text(key), language)}</p>\n`);
  const facts =
    error !== undefined && html`<p class="facts" lang="en" dir="ltr">${error} · request ${request.id}</p>`;
  const content = html`${joinHtml(paragraphs)}${facts}`;
  const page = servicePage({ language, title: wording.text(title), seal: "stop", content });
  return sendPage(reply, page, pagePolicy([], null));
}

/** Words that stand in a list elsewhere begin with a small letter there. */
function asSentence(text: string, language: Language): string {
  const [first = "", ...rest] = text;
  return first.toLocaleUpperCase(language) + rest.join("");
}
