import { type Brand, inkOn, isColour } from "../../foundation/brand.ts";
import { type Html, html, styleElement } from "../../foundation/html.ts";
import { directionOf, type Language } from "../../languages/language.ts";
import { withoutLinks } from "./without-links.ts";

/** A block of an e-mail. The text part and the HTML part are made of the same blocks, in the same order. */
export type MailBlock = MailText | MailFields | MailLink;

interface MailText {
  readonly kind: "heading" | "paragraph";
  readonly text: string;
}

interface MailFields {
  readonly kind: "fields";
  readonly fields: readonly MailField[];
}

export interface MailField {
  readonly label: string;
  /** May have several lines. */
  readonly value: string;
}

/**
 * A link to an address of this server. With the look `below` it stands below the letter, because it is not part of what the letter says.
 */
interface MailLink {
  readonly kind: "link";
  readonly look: "button" | "line" | "below";
  readonly label: string;
  readonly url: string;
}

export function paragraph(text: string): MailBlock {
  return { kind: "paragraph", text };
}

/** A link as a list of blocks; empty if there is no address. */
export function linkTo(label: string, url: string | null, look: MailLink["look"] = "button"): MailBlock[] {
  return url === null ? [] : [{ kind: "link", label, url, look }];
}

/** The text part. @param brand its name stands above the blocks, its footer below them. */
export function textOf(blocks: readonly MailBlock[], { name, footer }: Brand): string {
  const texts = [name, ...blocks.map(blockText), footer];
  return `${texts.filter((text) => text !== null).join("\n\n")}\n`;
}

/*
 * The light colours of the dashboard are inline, because many mail programs read no style sheet. Some programs invert colours in dark mode,
 * so no text is without a background of its own. Programs that read the style sheet below get the dashboard's dark colours, by classes of
 * one letter: g (ground), c (card), t (text), m (muted), l (line), a (accent), b (button).
 */
const SHEET = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
.g { background-color: #131416 !important; } .c { background-color: #1b1d20 !important; border-color: #2e3237 !important; }
.t { color: #e9eaec !important; } .m { color: #a0a7b0 !important; } .l { border-color: #2e3237 !important; }
.a { color: #4fc9b4 !important; } .b { background-color: #4fc9b4 !important; color: #08211d !important; }
}
@media (max-width: 480px) { .c { padding: 20px 16px !important; } }
`;
const FONT = "font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif";
const TEXT = `${FONT};font-size:15px;line-height:22px;color:#1c1e21`;
const MUTED = "font-size:13px;line-height:20px;color:#5d636b";
const GROUND = "background-color:#f7f7f5";
const CARD = `background-color:#ffffff;border:1px solid #e3e3de;border-radius:8px;padding:24px;${TEXT}`;
const TITLE = "margin:0 0 12px;font-size:20px;line-height:26px;font-weight:bold";
const BUTTON_SHAPE =
  "display:inline-block;padding:11px 20px;border-radius:6px;font-weight:bold;text-decoration:none";
const BUTTON = `${BUTTON_SHAPE};background-color:#0b6e5f;color:#ffffff`;
const NAME = `${FONT};font-size:15px;line-height:22px;font-weight:bold;color:#1c1e21;padding:0 4px 12px`;

/** What the HTML part needs besides its blocks. */
export interface MailLook {
  readonly language: Language;
  /** Shown above the blocks. */
  readonly title: string;
  readonly brand: Brand;
}

/** The HTML part. It loads nothing. Only addresses of this server, and addresses in texts of the owner, are links. */
export function htmlOf({ language, title, brand }: MailLook, blocks: readonly MailBlock[]): Html {
  const colour = brand.colour !== null && isColour(brand.colour) ? brand.colour : null;
  const direction = directionOf(language);
  const side = direction === "rtl" ? "right" : "left";
  const isBelow = (block: MailBlock): boolean => block.kind === "link" && block.look === "below";
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8"><title>${title}</title><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
${styleElement(SHEET)}
</head>
<body class="g" style="margin:0;${GROUND}">
<div role="main" lang="${language}" dir="${direction}">
<table role="presentation" class="g" width="100%" cellpadding="0" cellspacing="0" style="${GROUND}"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px">
${brand.name !== null && html`<tr><td align="${side}" class="t" style="${NAME}"><bdi>${brand.name}</bdi></td></tr>\n`}<tr><td align="${side}" class="c t" style="${colour === null ? CARD : `${CARD};border-top:6px solid ${colour}`}">
<h1 dir="auto" style="text-align:${side};${TITLE}">${withoutLinks(title)}</h1>
${blocks.filter((block) => !isBelow(block)).map((block) => blockHtml(block, { colour, side }))}</td></tr>
<tr><td align="${side}" class="m" style="padding:12px 4px;${FONT};${MUTED}">
${blocks.filter(isBelow).map((block) => blockHtml(block, { colour, side }))}${brand.footer !== null && footerHtml(brand.footer, side)}</td></tr>
</table>
</td></tr></table>
</div>
</body>
</html>
`;
}

function blockText(block: MailBlock): string {
  if (block.kind === "fields") return block.fields.map(fieldLines).join("\n");
  return block.kind === "link" ? `${block.label}:\n${block.url}` : block.text;
}

function fieldLines({ label, value }: MailField): string {
  return value.includes("\n") ? `${label}:\n${value}\n` : `${label}: ${value}`;
}

function footerHtml(footer: string, side: Side): Html {
  const lines = footer.split("\n").map((line) => html`<div dir="auto">${line}</div>\n`);
  return html`<div style="margin:8px 0;text-align:${side}">${lines}</div>
`;
}

/** The side at which the lines of an e-mail begin, whatever the direction of a text in it. */
type Side = "left" | "right";

function blockHtml(
  block: MailBlock,
  { colour, side }: { readonly colour: string | null; readonly side: Side },
): Html {
  if (block.kind === "fields") return fieldTable(block.fields, side);
  if (block.kind === "link") return linkHtml(block, colour);
  if (block.kind === "heading")
    return html`<h2 style="margin:24px 0 4px;font-size:15px;line-height:22px">${block.text}</h2>
`;
  const lines = block.text.includes("\n") ? ";white-space:pre-line" : "";
  return html`<p style="margin:12px 0${lines}">${block.text}</p>
`;
}

/**
 * A link as HTML. @param colour the owner's colour: the background of a button with black or white text, also in dark mode. It never
 * colours text.
 */
function linkHtml({ label, url, look }: MailLink, colour: string | null): Html {
  if (look === "button" && colour !== null)
    return html`<p style="margin:20px 0 4px"><a href="${url}" style="${BUTTON_SHAPE};border:1px solid #85898e;background-color:${colour};color:${inkOn(colour)}">${label}</a></p>
`;
  if (look === "line" && colour !== null)
    return html`<p style="margin:8px 0"><a href="${url}" class="t" style="color:#1c1e21">${label}</a></p>
`;
  if (look === "button")
    return html`<p style="margin:20px 0 4px"><a href="${url}" class="b" style="${BUTTON}">${label}</a></p>
`;
  return html`<p style="margin:8px 0"><a href="${url}" class="${look === "below" ? "m" : "a"}" style="color:${look === "below" ? "#5d636b" : "#0b6e5f"}">${label}</a></p>
`;
}

/** Each text has its own direction, because a stranger may write from right to left. */
function fieldTable(fields: readonly MailField[], side: Side): Html {
  const rows = fields.map(
    ({ label, value }) => html`<tr><td class="l" style="padding:10px 0;border-bottom:1px solid #e3e3de">
<p dir="auto" class="m" style="margin:0;${MUTED}">${withoutLinks(label)}</p>
<p dir="auto" style="margin:0;white-space:pre-wrap;word-break:break-word">${withoutLinks(value)}</p></td></tr>
`,
  );
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="t" style="text-align:${side};${TEXT}">
${rows}</table>
`;
}
