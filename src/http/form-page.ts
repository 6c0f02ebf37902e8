import { createHash } from "node:crypto";
import { escapeHtml } from "../foundation/html.ts";
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
    `<h1>Thank you</h1>
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
    : `<p>With your browser’s Back button you get back to the form; what you typed is usually still there.</p>`;
  return page(
    heading,
    `<h1>${escapeHtml(heading)}</h1>
<p>${escapeHtml(sentence)}</p>
${summary(form)}
${lost}
${backLink(backTo)}
<p class="facts">${escapeHtml(error)} · request ${escapeHtml(requestId)}</p>`,
  );
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

function backLink(origin: string | null): string {
  if (origin === null) return "";
  return `<p><a href="${escapeHtml(origin)}/">Back to ${escapeHtml(new URL(origin).host)}</a></p>`;
}

/** The list of problems, with a link to each input. It comes first, so a screen reader and the keyboard reach it first. */
function summary({ fields, problems }: PageForm): string {
  const lines = fields.flatMap((field, index) =>
    field.problems.map((text) => `<li><a href="#i${index}">${escapeHtml(text)}</a></li>`),
  );
  lines.push(...problems.map((text) => `<li>${escapeHtml(text)}</li>`));
  return lines.length === 0 ? "" : `<ul class="problems">\n${lines.join("\n")}\n</ul>`;
}

/**
 * Without an action the form is sent to the address that it came from, even if a proxy changed the path. The server decides
 * what is valid, so the browser is told not to check.
 */
function formHtml({ fields, others, hidden }: PageForm): string {
  return `<form method="post" accept-charset="utf-8" novalidate>
${hidden.map(hiddenHtml).join("\n")}
${fields.map(fieldHtml).join("\n")}
${others.map(otherHtml).join("\n")}
<button>Send again</button>
</form>`;
}

/** Bytes of the page that the visitor's input causes: all but the schema's empty fields. */
export function repeatedBytes({ fields, others, hidden }: PageForm): number {
  const html = [
    ...fields.flatMap((field) => [...field.values.map(escapeHtml), ...furtherValues(field).map(otherHtml)]),
    ...others.map(otherHtml),
    ...hidden.map(hiddenHtml),
  ];
  return html.reduce((bytes, text) => bytes + Buffer.byteLength(text) + MARK.length, 0);
}

/** The longest attribute that marks a chosen value. */
const MARK = " selected";

function hiddenHtml([name, value]: FormEntry): string {
  return `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`;
}

function fieldHtml(field: PageField, index: number): string {
  const id = `i${index}`;
  const isWrong = field.problems.length > 0;
  const problems = isWrong
    ? `<p class="problem" id="${id}-problem">${field.problems.map(escapeHtml).join("<br>")}</p>`
    : "";
  const marks = isWrong ? ` aria-invalid="true" aria-describedby="${id}-problem"` : "";
  const attributes = `id="${id}" name="${escapeHtml(field.name)}"${marks}`;
  const label = escapeHtml(field.label);
  if (field.kind === "checkbox") {
    const checked = ["on", "true", "1"].includes(field.values[0] ?? "") ? " checked" : "";
    return `<div><input type="checkbox" value="on" ${attributes}${checked}><label class="check" for="${id}">${label}</label>${problems}</div>`;
  }
  const further = furtherValues(field).map(otherHtml).join("");
  return `<div><label for="${id}">${label}</label>${controlHtml(field, attributes)}${further}${problems}</div>`;
}

/** The inputs of a list: one for each value; a multiple choice has one for all. */
function furtherValues({ kind, name, values }: PageField): FormEntry[] {
  return kind === "choices" ? [] : values.slice(1).map((value) => [name, value]);
}

/** Short, because there may be many: each costs the visitor only a few bytes. */
function otherHtml([name, value]: FormEntry): string {
  const [label, text] = [escapeHtml(name), escapeHtml(value)];
  const control = /[\r\n]/.test(value)
    ? `<textarea name="${label}">\n${text}</textarea>`
    : `<input name="${label}" value="${text}">`;
  return `<label>${label}${control}</label>`;
}

function controlHtml({ kind, values, options }: PageField, attributes: string): string {
  const text = escapeHtml(values[0] ?? "");
  switch (kind) {
    case "area":
      // HTML drops one line break right after the tag.
      return `<textarea ${attributes} dir="auto">\n${text}</textarea>`;
    case "choice":
      return `<select ${attributes}><option value="">–</option>${choices(options, values)}</select>`;
    case "choices":
      return `<select multiple ${attributes}>${choices(options, values)}</select>`;
    case "number":
      return `<input type="text" inputmode="decimal" ${attributes} value="${text}">`;
    case "email":
      return `<input type="email" autocomplete="email" ${attributes} value="${text}">`;
    case "url":
    case "text":
    case "checkbox":
    default:
      return `<input type="${kind === "url" ? "url" : "text"}" ${attributes} value="${text}" dir="auto">`;
  }
}

/** Whether an option needs no `value`: it then sends its text, which HTML must not change. */
const PLAIN_OPTION = /^[^\t\n\f\r ]+(?: [^\t\n\f\r ]+)*$/;

function choices(options: readonly string[], chosen: readonly string[]): string {
  return options
    .filter((option) => option !== "")
    .map((option) => {
      const text = escapeHtml(option);
      const value = PLAIN_OPTION.test(option) ? "" : ` value="${text}"`;
      return `<option${value}${chosen.includes(option) ? MARK : ""}>${text}</option>`;
    })
    .join("");
}
