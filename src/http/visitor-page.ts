import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { html, type Html, styleElement } from "../foundation/html.ts";

/* The frame of the pages for visitors: people who send a form, or open a link of an e-mail. */

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

/** A whole page. */
export function visitorPage(title: string, content: Html): string {
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

/**
 * No cache may keep the page, because it holds a visitor's input or what a secret link shows. `same-origin` because a page without
 * any referrer sends no origin either.
 */
export function sendPage(reply: FastifyReply, html: string, policy: string): FastifyReply {
  return reply
    .header("content-type", "text/html; charset=utf-8")
    .header("content-security-policy", policy)
    .header("x-content-type-options", "nosniff")
    .header("referrer-policy", "same-origin")
    .header("cache-control", "no-store")
    .send(html);
}
