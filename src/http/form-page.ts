import { createHash } from "node:crypto";
import { escapeHtml, html, type Html, joinHtml, styleElement } from "../foundation/html.ts";
import type { FormEntry } from "../submissions/coerce-form.ts";
import type { PageField, PageForm } from "./form-fields.ts";

/** System colours and fonts, so that the pages follow the visitor's light, dark and high-contrast settings. */
const STYLE = `
:root { color-scheme: light dark; --fg: #1b1d21; --bg: #f5f6f8; --card: #fff; --line: #767c88; --accent: #0b57d0; --on: #fff; --bad: #b3261e; --soft: #565c66; }
@media (prefers-color-scheme: dark) { :root { --fg: #e7e9ee; --bg: #14161a; --card: #1e2127; --line: #8b92a0; --accent: #a8c7fa; --on: #062e6f; --bad: #f2b8b5; --soft: #aab1bd; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1rem; background: var(--bg); color: var(--fg); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 0 auto; padding: 1.5rem; background: var(--card); border-radius: .75rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: .5rem 0; }
a { color: var(--accent); }
ul.problems { margin: 1rem 0; padding: .75rem 1rem .75rem 2rem; border: 2px solid var(--bad); border-radius: .5rem; }
form > div, form > label { margin: 1rem 0; }
label { display: block; margin-bottom: .25rem; font-weight: 600; }
* + label { margin-top: .5rem; }
label.check { display: inline; margin-left: .5rem; }
input:not([type=checkbox]), textarea, select { width: 100%; padding: .5rem; font: inherit; font-weight: 400; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .375rem; }
input[type=checkbox] { width: 1.25rem; height: 1.25rem; vertical-align: middle; }
textarea { min-height: 8rem; resize: vertical; }
main [aria-invalid=true] { border: 2px solid var(--bad); }
.problem { margin: .25rem 0 0; color: var(--bad); }
button { padding: .625rem 1.25rem; font: inherit; font-weight: 600; color: var(--on); background: var(--accent); border: 0; border-radius: .375rem; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.facts { margin-top: 1.5rem; color: var(--soft); font-size: .875rem; }
`;

const STYLE_HASH = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

/**
 * Nothing is loaded and no script runs. Browsers apply `form-action` also to redirects of a sent form.
 *
 * @param targets origins that the page's form may end at, beside our own. @param embedder the origin that may show the
 *   page in a frame; null for none.
 */
export function pagePolicy(targets: readonly string[], embedder: string | null): string {
  return [
    "default-src 'none'",
    `style-src ${STYLE_HASH}`,
    `form-action ${["'self'", ...new Set(targets)].join(" ")}`,
    `frame-ancestors ${embedder ?? "'none'"}`,
    "base-uri 'none'",
  ].join("; ");
}

/** @param backTo the origin of the page with the form; null if not known. */
export function successPage(backTo: string | null): string {
  return page(
    "Thank you",
    html`<h1>Thank you</h1>
<p>Your answers were received.</p>
${backLink(backTo)}`,
  );
}

export interface ErrorPage {
  readonly heading: string;
  /** For the visitor. */
  readonly sentence: string;
  /** For somebody who looks for the reason: the status' `error`, and how to find the log line. */
  readonly error: string;
  readonly requestId: string;
  readonly backTo: string | null;
  /** With the visitor's input, to send again. */
  readonly form: PageForm;
}

export function errorPage({ heading, sentence, error, requestId, backTo, form }: ErrorPage): string {
  const isAsked = form.fields.length > 0 || form.others.length > 0;
  const lost = isAsked
    ? formHtml(form)
    : html`<p>With your browser’s Back button you get back to the form; what you typed is usually still there.</p>`;
  return page(
    heading,
    html`<h1>${heading}</h1>
<p>${sentence}</p>
${summary(form)}
${lost}
${backLink(backTo)}
<p class="facts">${error} · request ${requestId}</p>`,
  );
}

function page(title: string, content: Html): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
${styleElement(STYLE)}
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`);
}

function backLink(origin: string | null): Html | null {
  return origin === null ? null : html`<p><a href="${origin}/">Back to ${new URL(origin).host}</a></p>`;
}

/** The list of problems, with a link to each input. It comes first, so a screen reader and the keyboard reach it first. */
function summary({ fields, problems }: PageForm): Html | null {
  const lines = [
    ...fields.flatMap((field, index) =>
      field.problems.map((text) => html`<li><a href="#i${index}">${text}</a></li>`),
    ),
    ...problems.map((text) => html`<li>${text}</li>`),
  ];
  return lines.length === 0 ? null : html`<ul class="problems">\n${joinHtml(lines, NEW_LINE)}\n</ul>`;
}

const NEW_LINE = html`\n`;

/**
 * Without an action the form is sent to the address that it came from, even if a proxy changed the path. The server decides
 * what is valid, so the browser is told not to check.
 */
function formHtml({ fields, others, hidden }: PageForm): Html {
  return html`<form method="post" accept-charset="utf-8" novalidate>
${joinHtml(hidden.map(hiddenHtml), NEW_LINE)}
${joinHtml(fields.map(fieldHtml), NEW_LINE)}
${joinHtml(others.map(otherHtml), NEW_LINE)}
<button>Send again</button>
</form>`;
}

/** Bytes of the page that the visitor's input causes: all but the schema's empty fields. */
export function repeatedBytes({ fields, others, hidden }: PageForm): number {
  const markup = [
    ...fields.flatMap((field) => [...field.values.map(escapeHtml), ...furtherValues(field).map(otherHtml)]),
    ...others.map(otherHtml),
    ...hidden.map(hiddenHtml),
  ];
  return markup.reduce((bytes, each) => bytes + Buffer.byteLength(String(each)) + MARK.length, 0);
}

/** The longest attribute that marks a chosen value. */
const MARK = " selected";

function hiddenHtml([name, value]: FormEntry): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

function fieldHtml(field: PageField, index: number): Html {
  const id = `i${index}`;
  const isWrong = field.problems.length > 0;
  const problems = isWrong
    ? html`<p class="problem" id="${id}-problem">${joinHtml(
        field.problems.map((text) => html`${text}`),
        html`<br>`,
      )}</p>`
    : null;
  const marks = isWrong ? html` aria-invalid="true" aria-describedby="${id}-problem"` : null;
  const attributes = html`id="${id}" name="${field.name}"${marks}`;
  if (field.kind === "checkbox") {
    const checked = ["on", "true", "1"].includes(field.values[0] ?? "") ? html` checked` : null;
    return html`<div><input type="checkbox" value="on" ${attributes}${checked}><label class="check" for="${id}">${field.label}</label>${problems}</div>`;
  }
  const further = furtherValues(field).map(otherHtml);
  return html`<div><label for="${id}">${field.label}</label>${controlHtml(field, attributes)}${further}${problems}</div>`;
}

/** The inputs of a list: one for each value; a multiple choice has one for all. */
function furtherValues({ kind, name, values }: PageField): FormEntry[] {
  return kind === "choices" ? [] : values.slice(1).map((value) => [name, value]);
}

/** Short, because there may be many: each costs the visitor only a few bytes. */
function otherHtml([name, value]: FormEntry): Html {
  const control = /[\r\n]/.test(value)
    ? html`<textarea name="${name}">\n${value}</textarea>`
    : html`<input name="${name}" value="${value}">`;
  return html`<label>${name}${control}</label>`;
}

function controlHtml({ kind, values, options }: PageField, attributes: Html): Html {
  const text = values[0] ?? "";
  switch (kind) {
    case "area":
      // HTML drops one line break right after the tag.
      return html`<textarea ${attributes} dir="auto">\n${text}</textarea>`;
    case "choice":
      return html`<select ${attributes}><option value="">–</option>${choices(options, values)}</select>`;
    case "choices":
      return html`<select multiple ${attributes}>${choices(options, values)}</select>`;
    case "number":
      return html`<input type="text" inputmode="decimal" ${attributes} value="${text}">`;
    case "email":
      return html`<input type="email" autocomplete="email" ${attributes} value="${text}">`;
    case "url":
    case "text":
    case "checkbox":
    default:
      return html`<input type="${kind === "url" ? "url" : "text"}" ${attributes} value="${text}" dir="auto">`;
  }
}

/** Whether an option needs no `value`: it then sends its text, which HTML must not change. */
const PLAIN_OPTION = /^[^\t\n\f\r ]+(?: [^\t\n\f\r ]+)*$/;

function choices(options: readonly string[], chosen: readonly string[]): Html[] {
  return options
    .filter((option) => option !== "")
    .map((option) => {
      const value = PLAIN_OPTION.test(option) ? null : html` value="${option}"`;
      const mark = chosen.includes(option) ? html` selected` : null;
      return html`<option${value}${mark}>${option}</option>`;
    });
}
