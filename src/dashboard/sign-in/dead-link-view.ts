import type { FastifyRequest } from "fastify";
import { html, type Html } from "../../foundation/html.ts";
import { languageOf } from "../../http/visitors/dead-link-page.ts";
import { directionOf } from "../../languages/language.ts";
import { type Wording, wordingIn } from "../../languages/wording.ts";
import { type Page, page } from "../answer.ts";

/*
 * What people read whose link does not work any more. They may never have chosen this service, so it is in the language of their browser,
 * though the dashboard itself is in English.
 */

/**
 * The page for a link that is not valid any more.
 *
 * @param askPath the page on which people ask for a new letter; null if somebody else has to send it
 */
export function deadLinkPage(request: FastifyRequest, askPath: string | null): Page {
  const wording = wordingIn(languageOf(request));
  const content = html`<div ${inLanguage(wording)}>
    <div class="head"><h1>${wording.text("deadTitle")}</h1></div>
    <section class="card">
      <p>${wording.text("deadEntry")}${askPath === null && ` ${wording.text("deadEntryNext")}`}</p>
      ${askPath !== null && html`<p><a class="button primary" href="${askPath}">${wording.text("newLetter")}</a></p>`}
    </section>
    <p><a href="/dashboard/sign-in">${wording.text("signIn")}</a></p>
  </div>`;
  return page(wording.text("deadTitle"), content, 404);
}

/** Why a link does not work, to stand above the forms for signing in. */
export function deadLinkProblem(request: FastifyRequest): Html {
  const wording = wordingIn(languageOf(request));
  return html`<span ${inLanguage(wording)}>${wording.text("deadEntry")} ${wording.text("deadEntryNext")}</span>`;
}

function inLanguage({ language }: Wording): Html {
  return html`lang="${language}" dir="${directionOf(language)}"`;
}
