import { type Html, html } from "../foundation/html.ts";

/** The HTML part around its content. It loads nothing from anywhere. */
export function mailPage(content: Html): Html {
  return html`<!doctype html>
<html><head><meta charset="utf-8"></head>
<body style="font-family: sans-serif; line-height: 1.5">
${content}
</body></html>
`;
}
