import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { type Brand, inkOn, isColour, NO_BRAND } from "../../foundation/brand.ts";
import { html, type Html, joinHtml, styleElement } from "../../foundation/html.ts";
import { directionOf, type Language } from "../../languages/language.ts";

/* The frame of the pages for visitors: people who send a form or open a link of an e-mail. */

/**
 * The dashboard's colours and scales, one step larger. They follow the visitor's light, dark and high-contrast settings, also in browsers
 * without `light-dark()`.
 */
const STYLE = withoutSpaces(`
:root { color-scheme: light dark; --bg: #f7f7f5; --surface: #ffffff; --line: #e3e3de; --edge: #85898e; --text: #1c1e21; --muted: #5d636b; --accent: #0b6e5f; --on-accent: #ffffff; --accent-soft: #e2f1ee; --bad: #a62b20; --bad-soft: #fae6e3; }
@media (prefers-color-scheme: dark) { :root { --bg: #131416; --surface: #1b1d20; --line: #2e3237; --edge: #747b84; --text: #e9eaec; --muted: #a0a7b0; --accent: #4fc9b4; --on-accent: #08211d; --accent-soft: #17332e; --bad: #f08a7e; --bad-soft: #3d211e; } }
* { box-sizing: border-box; accent-color: var(--accent); }
body { margin: 0; padding: 2rem 1rem 3rem; background: var(--bg); color: var(--text); font: 1rem/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 37.5rem; margin: 0 auto; padding: 2rem; background: var(--surface); border: 1px solid var(--line); border-radius: 12px; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.625rem; line-height: 1.2; letter-spacing: -0.01em; text-wrap: balance; }
p { margin: .75rem 0; }
a { color: var(--accent); text-underline-offset: 3px; }
ul.problems { margin: 1.5rem 0; padding: 1rem; padding-inline-start: 2.25rem; border-inline-start: 4px solid var(--bad); border-radius: 6px; background: var(--bad-soft); }
ul.problems li { padding-block: 2px; }
ul.problems a { color: inherit; }
.wrong { padding: 1rem; border-inline-start: 4px solid var(--bad); border-radius: 6px; background: var(--bad-soft); }
.wrong h2 { margin: 0; font-size: 1.125rem; line-height: 1.3; }
.wrong ul.problems { margin: .5rem 0 0; padding-block: 0; padding-inline-start: 1.25rem; border: 0; }
fieldset { margin: 1.5rem 0; padding: 0 1rem; border: 1px solid var(--line); border-radius: 8px; }
fieldset > div { margin: 1rem 0; }
.boxes { margin: 1.5rem 0; padding: 0; border: 0; }
fieldset.boxes > div { margin: 0; padding: .375rem 0; }
.optional { color: var(--muted); font-weight: 400; }
legend { padding: 0 .375rem; font-weight: 600; }
.boxes legend { padding: 0 0 .25rem; }
form { margin-block-start: 1.5rem; }
form > div, form > label { margin: 1.5rem 0; }
label { display: block; margin-bottom: .25rem; font-weight: 600; }
* + label { margin-top: .75rem; }
label, legend { unicode-bidi: plaintext; }
[dir=ltr] :is(h1, p, label, legend, [dir=auto]) { text-align: left; }
[dir=rtl] :is(h1, p, label, legend, [dir=auto]) { text-align: right; }
label.check { display: inline-block; width: calc(100% - 2.5rem); margin: 0; margin-inline-start: .75rem; vertical-align: top; font-weight: 400; }
input:not([type=checkbox]), textarea, select { width: 100%; min-height: 44px; padding: 9px 12px; font: inherit; font-weight: 400; color: inherit; background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; }
input[type=checkbox] { width: 24px; height: 24px; margin: 0; vertical-align: top; }
textarea { min-height: 8rem; resize: vertical; }
main [aria-invalid=true] { border: 2px solid var(--bad); }
.hint, .problem { margin: .25rem 0 0; font-size: .875rem; }
.hint { color: var(--muted); }
.problem { color: var(--bad); font-weight: 600; }
button { min-height: 46px; padding: 10px 20px; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 6px; cursor: pointer; }
button:hover { filter: brightness(1.08); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.facts { margin-block-start: 1.5rem; color: var(--muted); font-size: .875rem; }
.maker, .below { max-width: 37.5rem; margin: 0 auto; }
.maker { display: flex; gap: 10px; align-items: center; margin-block-end: 1rem; font-weight: 650; }
.maker svg { color: var(--accent); }
.below { margin-block-start: 1rem; color: var(--muted); font-size: .875rem; }
.seal { display: grid; place-items: center; width: 56px; height: 56px; margin-block-end: 1.5rem; border-radius: 50%; background: var(--accent-soft); color: var(--accent); }
.seal svg { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.muted { color: var(--muted); }
.unbroken { white-space: nowrap; }
.logo { display: block; max-width: 12rem; max-height: 5rem; margin-block-end: 1.5rem; }
.far { position: absolute; inset-inline-start: -9999px; }
@media (max-width: 480px) { body { padding: 1rem .75rem 2rem; } main { padding: 1.5rem 1rem; } button { width: 100%; } }
`);

/** Removes spaces, because every page carries the style sheet. */
function withoutSpaces(css: string): string {
  return css
    .replaceAll(/ ?([{};]) ?/g, "$1")
    .replaceAll(": ", ":")
    .trim();
}

const STYLE_HASH = hashOf(STYLE);

function hashOf(style: string): string {
  return `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
}

/**
 * The style sheet with an owner's colour as a background for black or white text. Letters never have this colour, because it may be as
 * light or as dark as the page.
 *
 * @param colour a valid `#rrggbb`; null means our own look
 */
function styleWith(colour: string | null): string {
  if (colour === null || !isColour(colour)) return STYLE;
  return `${STYLE}* { accent-color: ${colour}; }
a { color: inherit; }
:focus-visible { outline-color: var(--text); }
main { border-block-start: 6px solid ${colour}; }
button, .seal { background: ${colour}; color: ${inkOn(colour)}; }
button { border-color: var(--edge); }
`;
}

/** The policy of a form's own page: it loads its logo and nothing else. */
export function ownPagePolicy(policy: string, logo: string | null): string {
  return logo === null ? policy : `img-src ${new URL(logo).origin}; ${policy}`;
}

/**
 * The content policy of a page that loads nothing and runs no script. Browsers apply `form-action` also to redirects of a sent form.
 *
 * @param targets origins that the page's form may end at, besides our own
 * @param framers the sources of pages that may show the page in a frame; null for none
 * @param colour the page's colour, as it is given to the page itself
 */
export function pagePolicy(
  targets: readonly string[],
  framers: string | null,
  colour: string | null = null,
): string {
  return [
    "default-src 'none'",
    `style-src ${colour === null ? STYLE_HASH : hashOf(styleWith(colour))}`,
    `form-action ${["'self'", ...new Set(targets)].join(" ")}`,
    `frame-ancestors ${framers ?? "'none'"}`,
    "base-uri 'none'",
  ].join("; ");
}

/** A whole page. @param brand the brand of the workspace that the page speaks for */
export function visitorPage(
  language: Language,
  title: string,
  content: Html,
  brand: Brand = NO_BRAND,
): string {
  return wholePage(
    language,
    title,
    html`${makerOf(brand)}<main>
${content}
</main>${footerOf(brand)}`,
    styleWith(brand.colour),
  );
}

/** The name of the page's workspace. Each text has its own direction, whatever the direction of the page is. */
function makerOf({ name }: Brand): Html | null {
  return name === null ? null : html`<header class="maker"><bdi>${name}</bdi></header>\n`;
}

function footerOf({ footer }: Brand): Html | null {
  return footer === null ? null : html`\n<footer class="below">${linesOf(footer)}</footer>`;
}

/** The lines of a text, each in its own direction. */
function linesOf(text: string): Html {
  const lines = text.split("\n").map((line) => html`<div dir="auto">${line}</div>`);
  return joinHtml(lines);
}

/** A drawing in a circle that shows what a page is about. */
export function sealOf(name: ServicePage["seal"]): Html {
  return html`<span class="seal"><svg width="28" height="28" viewBox="0 0 20 20" aria-hidden="true">${SEALS[name]}</svg></span>`;
}

/** A page of the service itself: a drawing that shows what the page is about, and the content below it. */
export interface ServicePage {
  readonly language: Language;
  readonly title: string;
  readonly seal: "envelope" | "check" | "stop";
  readonly content: Html;
  readonly below?: string;
  /** The brand of the workspace that the page speaks for; absent if the reader has not agreed to anything yet. */
  readonly brand?: Brand;
}

/** A whole page of the service itself, in the look of a workspace if it has one. */
export function servicePage({
  language,
  title,
  seal,
  content,
  below,
  brand = NO_BRAND,
}: ServicePage): string {
  return wholePage(
    language,
    title,
    html`${makerOf(brand) ?? html`<header class="maker">${MARK}formsvc</header>\n`}<main>
${sealOf(seal)}
<h1>${unbroken(title)}</h1>
${content}
</main>
${below !== undefined && html`<footer class="below">${below}</footer>`}${footerOf(brand)}`,
    styleWith(brand.colour),
  );
}

/** Keeps a short word with a hyphen in one line. On a narrow screen, a line would otherwise end with "E-". */
function unbroken(title: string): Html {
  const parts = title.split(/(\S{1,8}-\S{1,12})/);
  return joinHtml(
    parts.map((part, index) =>
      index % 2 === 1 ? html`<span class="unbroken">${part}</span>` : html`${part}`,
    ),
  );
}

const MARK = html`<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><path d="M3 2h14v5H8v3h7v4H8v4H3z" fill="currentColor"/></svg>`;

const SEALS: Readonly<Record<ServicePage["seal"], Html>> = {
  envelope: html`<rect x="2.5" y="4.5" width="15" height="11" rx="2"/><path d="m3 6 7 5 7-5"/>`,
  check: html`<path d="m4.5 10.5 3.5 3.5 7.5-8"/>`,
  stop: html`<circle cx="10" cy="10" r="7"/><path d="M10 6.5v4.5M10 13.6h.01"/>`,
};

function wholePage(language: Language, title: string, body: Html, style: string): string {
  return String(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
${styleElement(style)}
</head>
<body>
${body}
</body>
</html>
`);
}

/**
 * Sends a page that no cache may keep, because it contains a visitor's input or what a secret link shows. The referrer policy is
 * `same-origin`, because without any referrer a page sends no origin either.
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
