import { type Html, html, joinHtml } from "../foundation/html.ts";
import type { Block, Inline, Inlines } from "./page.ts";

/** A page as the dashboard shows it, without its title. @param root the address before the names of pages */
export function pageMarkup(blocks: readonly Block[], root: string): Html {
  return joinHtml(
    blocks.map(
      (block) => html`${blockMarkup(block, root)}
`,
    ),
  );
}

function blockMarkup(block: Block, root: string): Html {
  if ("heading" in block) return headingMarkup(block.level, block.anchor, inlineMarkup(block.heading, root));
  if ("paragraph" in block) return html`<p>${inlineMarkup(block.paragraph, root)}</p>`;
  if ("code" in block) return html`<pre tabindex="0"><code>${block.code}</code></pre>`;
  if ("head" in block) {
    const head = block.head.map((cell) => html`<th>${inlineMarkup(cell, root)}</th>`);
    const rows = block.rows.map(
      (row) => html`<tr>${row.map((cell) => html`<td>${inlineMarkup(cell, root)}</td>`)}</tr>`,
    );
    return html`<div class="scroll" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
  }
  const items = block.items.map((item) => html`<li>${itemMarkup(item, root)}</li>`);
  return block.isOrdered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
}

function headingMarkup(level: number, anchor: string, words: Html): Html {
  if (level === 2) return html`<h2 id="${anchor}">${words}</h2>`;
  return level === 3 ? html`<h3 id="${anchor}">${words}</h3>` : html`<h4 id="${anchor}">${words}</h4>`;
}

function itemMarkup(item: readonly Block[], root: string): Html {
  return joinHtml(
    item.map((block) =>
      "paragraph" in block ? inlineMarkup(block.paragraph, root) : blockMarkup(block, root),
    ),
  );
}

function inlineMarkup(inlines: Inlines, root: string): Html {
  return joinHtml(inlines.map((inline) => oneMarkup(inline, root)));
}

function oneMarkup(inline: Inline, root: string): Html {
  if (typeof inline === "string") return html`${inline}`;
  if ("code" in inline) return html`<code>${inline.code}</code>`;
  if ("strong" in inline) return html`<strong>${inlineMarkup(inline.strong, root)}</strong>`;
  if ("emphasis" in inline) return html`<em>${inlineMarkup(inline.emphasis, root)}</em>`;
  const address = /^(?:https?:|#)/.test(inline.to) ? inline.to : root + inline.to;
  return html`<a href="${address}">${inlineMarkup(inline.link, root)}</a>`;
}
