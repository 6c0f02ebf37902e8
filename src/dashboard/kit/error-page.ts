import type { FastifyReply, FastifyRequest } from "fastify";
import { describeError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Log } from "../../foundation/log.ts";
import { beginErrorReply } from "../../http/error-reply.ts";
import type { Page } from "../answer.ts";
import { plainPage } from "./layout.ts";
import { formOf, MAX_FORM_BYTES } from "../routes.ts";
import { sentence } from "./sentence.ts";

interface Failure {
  readonly thrown: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly log: Log;
}

/** The page for an error, with the message of the error table. It shows the request's id, by which the log line can be found. */
export function errorPage({ thrown, request, reply, log }: Failure): Page {
  const error = beginErrorReply({ request, reply, log }, thrown, MAX_FORM_BYTES);
  const { status } = describeError(error.code);
  const heading = headingOf(status);
  const content = html`<h1>${heading}</h1>
    <p>${sentence(error.message)}${status === 404 && GONE}</p>
    ${request.method === "POST" && (status >= 500 || status === 429) ? REPEAT : typedText(formOf(request))}
    <p class="muted">Request <code>${request.id}</code> · <a href="/dashboard">Back to the inbox</a></p>`;
  return { kind: "page", title: heading, content, status };
}

/** A form that is refused before its body is read may have been large. The browser has all of it. */
const REPEAT = html`<p>
  Nothing that you typed was saved, but your browser still has it: reload this page, and let the form be sent
  again.
</p>`;

/** What somebody wrote into a form whose page is gone. A request of another site is refused before its form is read, so it shows nothing. */
function typedText(form: URLSearchParams): Html | null {
  const typed = keptOf(form)
    .map(([, value]) => value.trim())
    .filter((value) => /\s/.test(value));
  if (typed.length === 0) return null;
  return html`<p class="field">
    <label for="typed">What you typed. Copy it if you need it</label>
    <textarea id="typed" rows="6" readonly>${typed.join("\n\n")}</textarea>
  </p>`;
}

/** For people who follow the link of an e-mail or a bookmark. It says the same whether something was there or not. */
const GONE =
  " If it was there before, it was deleted or moved meanwhile, or belongs to a workspace of another account.";

function headingOf(status: number): string {
  if (status === 404) return "Not found";
  if (status === 403) return "Not allowed";
  if (status === 429) return "Too many requests";
  if (status === 503) return "Try again shortly";
  return status >= 500 ? "Something went wrong" : "This could not be done";
}

/** Matches names of fields whose values a page never repeats. */
const SECRET_FIELD = /password|code|token|secret/i;

function keptOf(form: URLSearchParams): [string, string][] {
  return [...form].filter(([name]) => !SECRET_FIELD.test(name));
}

/** The page for a form with a file that was sent after its session ended: the file was not read, so it must be chosen again. */
export function lostFilePage(path: string): Html {
  return plainPage(
    "Signed out",
    html`<h1>You were signed out</h1>
      <p>
        Nothing was saved, and the file that you chose did not arrive.
        <a href="/dashboard/sign-in?next=${encodeURIComponent(path)}">Sign in</a>, and choose it again on the
        page that opens then.
      </p>`,
  );
}

/**
 * The page for a form that was sent after its session ended. It keeps everything that was typed, and sends it again after the person has
 * signed in.
 */
export function lostSessionPage(path: string, form: URLSearchParams): Html {
  return plainPage(
    "Signed out",
    html`<h1>You were signed out</h1>
      <p>
        Nothing was saved yet, and nothing that you typed is lost.
        <a href="/dashboard/sign-in" target="_blank" rel="noopener">Sign in in a new tab</a>, come back to
        this one and send the form again.
      </p>
      <form method="post" action="${path}">
        ${keptOf(form).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        <button class="primary">Send again</button>
      </form>`,
  );
}
