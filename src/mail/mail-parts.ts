import { type Html, html } from "../foundation/html.ts";

/** What an e-mail says, in its order. The text and the HTML part are made of the same blocks. */
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

/** An address of ours, and the words on it. Below the letter stands what is not about what it says. */
interface MailLink {
  readonly kind: "link";
  readonly place: "button" | "line" | "below";
  readonly label: string;
  readonly url: string;
}

export function paragraph(text: string): MailBlock {
  return { kind: "paragraph", text };
}

/** No block if there is no address. */
export function linkTo(label: string, url: string | null, place: MailLink["place"] = "button"): MailBlock[] {
  return url === null ? [] : [{ kind: "link", label, url, place }];
}

/** The text part. */
export function textOf(blocks: readonly MailBlock[]): string {
  return `${blocks.map(blockText).join("\n\n")}\n`;
}

/*
 * The dashboard's light colours, inline, because many mail programs read no sheet; those that turn colours round for the dark find no
 * text without a ground of its own.
 */
const FONT = "font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif";
const TEXT = `${FONT};font-size:15px;line-height:22px;color:#1c1e21`;
const MUTED = "font-size:13px;line-height:20px;color:#5d636b";
const GROUND = "background-color:#f7f7f5";
const CARD = `background-color:#ffffff;border:1px solid #e3e3de;border-radius:8px;padding:24px;${TEXT}`;
const TITLE = "margin:0 0 12px;font-size:20px;line-height:26px;font-weight:bold";
const BUTTON = `display:inline-block;padding:11px 20px;border-radius:6px;background-color:#0b6e5f;color:#ffffff;font-weight:bold;text-decoration:none`;

/** The HTML part. It loads nothing, and only addresses of ours are links. @param title above what it says. */
export function htmlOf(title: string, blocks: readonly MailBlock[]): Html {
  const isBelow = (block: MailBlock): boolean => block.kind === "link" && block.place === "below";
  return html`<!doctype html>
<html>
<head><meta charset="utf-8"></head>
<body style="margin:0;${GROUND}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="${GROUND}"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px">
<tr><td align="left" style="${CARD}">
<h2 dir="auto" style="${TITLE}">${title}</h2>
${blocks.filter((block) => !isBelow(block)).map(blockHtml)}</td></tr>
<tr><td align="left" style="padding:12px 4px;${FONT};${MUTED}">
${blocks.filter(isBelow).map(blockHtml)}</td></tr>
</table>
</td></tr></table>
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

function blockHtml(block: MailBlock): Html {
  if (block.kind === "fields") return fieldTable(block.fields);
  if (block.kind === "link") return linkHtml(block);
  if (block.kind === "heading")
    return html`<h2 style="margin:24px 0 4px;font-size:15px;line-height:22px">${block.text}</h2>
`;
  const lines = block.text.includes("\n") ? ";white-space:pre-line" : "";
  return html`<p style="margin:12px 0${lines}">${block.text}</p>
`;
}

function linkHtml({ label, url, place }: MailLink): Html {
  if (place === "button")
    return html`<p style="margin:20px 0 4px"><a href="${url}" style="${BUTTON}">${label}</a></p>
`;
  return html`<p style="margin:8px 0"><a href="${url}" style="color:${place === "below" ? "#5d636b" : "#0b6e5f"}">${label}</a></p>
`;
}

/** Text of a stranger may run from right to left: each has its own direction. */
function fieldTable(fields: readonly MailField[]): Html {
  const rows = fields.map(
    ({ label, value }) => html`<tr><td style="padding:10px 0;border-bottom:1px solid #e3e3de">
<p dir="auto" style="margin:0;${MUTED}">${label}</p>
<p dir="auto" style="margin:0;white-space:pre-wrap;word-break:break-word">${value}</p></td></tr>
`,
  );
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="${TEXT}">
${rows}</table>
`;
}
