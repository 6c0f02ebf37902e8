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

/** An address of ours, and the words on it. */
interface MailLink {
  readonly kind: "link";
  readonly label: string;
  readonly url: string;
}

export function paragraph(text: string): MailBlock {
  return { kind: "paragraph", text };
}

/** No block if there is no address. */
export function linkTo(label: string, url: string | null): MailBlock[] {
  return url === null ? [] : [{ kind: "link", label, url }];
}

/** The text part. */
export function textOf(blocks: readonly MailBlock[]): string {
  return `${blocks.map(blockText).join("\n\n")}\n`;
}

/** The HTML part. It loads nothing, and only addresses of ours are links. */
export function htmlOf(blocks: readonly MailBlock[]): Html {
  return html`<!doctype html>
<html>
<head><meta charset="utf-8"></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
${blocks.map(blockHtml)}</body>
</html>
`;
}

/** Keeps the lines of a text as they are. */
const LINES = html` style="white-space: pre-line"`;

function blockText(block: MailBlock): string {
  if (block.kind === "fields") return block.fields.map(fieldLines).join("\n");
  return block.kind === "link" ? `${block.label}:\n${block.url}` : block.text;
}

function fieldLines({ label, value }: MailField): string {
  return value.includes("\n") ? `${label}:\n${value}\n` : `${label}: ${value}`;
}

function blockHtml(block: MailBlock): Html {
  if (block.kind === "fields") return fieldTable(block.fields);
  if (block.kind === "link")
    return html`<p><a href="${block.url}">${block.label}</a></p>
`;
  if (block.kind === "heading")
    return html`<h2 style="font-size: 1.1em">${block.text}</h2>
`;
  return html`<p${block.text.includes("\n") && LINES}>${block.text}</p>
`;
}

/** Text of a stranger may run from right to left: each has its own direction. */
function fieldTable(fields: readonly MailField[]): Html {
  const rows = fields.map(
    ({ label, value }) => html`<tr><th dir="auto" align="left" valign="top">${label}</th>
<td dir="auto" style="white-space: pre-wrap; word-break: break-word">${value}</td></tr>
`,
  );
  return html`<table cellpadding="4" style="border-collapse: collapse">
${rows}</table>
`;
}
