import type { Block, Inline, Inlines, ManualPage } from "../../manual/page.ts";

/** The width of a line in columns. Only code is wider. */
const WIDTH = 80;
const GAP = "  ";
/** The least width of the last column of a table. A table that would be narrower becomes a paragraph for each row. */
const MIN_LAST_COLUMN = 30;
/** The longest piece of code that is kept in one line, in characters. A longer one is broken like prose. */
const MAX_WHOLE_CODE = 30;
/** A space at which no line is broken. It keeps the words of a command together. */
const FIXED_SPACE = "\u00A0";

/** Renders a page as plain text for a terminal, in lines of 80 columns. */
export function pageText({ title, blocks }: ManualPage): string {
  const see = linkedPages(blocks);
  const parts = [`# ${title}`, ...blocks.map((block) => blockText(block, WIDTH))];
  if (see.length > 0) parts.push(wrap(`See also: ${see.join(", ")}`, WIDTH));
  return `${parts.join("\n\n")}\n`.replaceAll(FIXED_SPACE, " ");
}

function blockText(block: Block, width: number): string {
  if ("heading" in block) return `${"#".repeat(block.level)} ${inlineText(block.heading)}`;
  if ("paragraph" in block) return wrap(inlineText(block.paragraph), width);
  if ("code" in block) return indent(block.code.trimEnd().replaceAll("\t", "    "), "    ");
  if ("head" in block)
    return tableText(
      block.head.map(inlineText),
      block.rows.map((row) => row.map(inlineText)),
    );
  return block.items
    .map((item, index) => itemText(item, block.isOrdered ? `${index + 1}. ` : "- ", width))
    .join("\n");
}

function itemText(item: readonly Block[], mark: string, width: number): string {
  const text = item.map((block) => blockText(block, width - mark.length)).join("\n");
  return mark + indent(text, " ".repeat(mark.length)).trimStart();
}

function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => widthOf(row[at] ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  const room = WIDTH - before;
  if (room < Math.min(MIN_LAST_COLUMN, widths.at(-1) ?? 0)) return rowsAsParagraphs(head, rows);
  const lines = [head, head.map((cell) => "-".repeat(widthOf(cell))), ...rows];
  return lines.map((row) => rowInColumns(row, widths, room)).join("\n");
}

function rowInColumns(row: readonly string[], widths: readonly number[], room: number): string {
  const first = row.slice(0, -1).map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - widthOf(cell)));
  const start = first.map((cell) => cell + GAP).join("");
  const last = indent(wrap(row.at(-1) ?? "", room), " ".repeat(widthOf(start)));
  return (start + last.trimStart()).trimEnd();
}

/**
 * Renders each row with its first cell on a line of its own. Below it stands the other cell, or each of several cells after the name of its
 * column.
 */
function rowsAsParagraphs(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const hasLabels = head.length > 2;
  const labelOf = (at: number): string => (hasLabels ? `${head[at] ?? ""}: ` : "");
  const top = hasLabels ? [`${head[0] ?? ""}:`] : head;
  return [top, ...rows]
    .map((row) =>
      row
        .map((cell, at) =>
          at === 0 ? wrap(cell, WIDTH) : indent(wrap(labelOf(at) + cell, WIDTH - 4), "    "),
        )
        .filter((_, at) => row[at] !== "")
        .join("\n"),
    )
    .join("\n\n");
}

function inlineText(inlines: Inlines): string {
  return inlines.map(oneText).join("");
}

function oneText(inline: Inline): string {
  if (typeof inline === "string") return inline;
  if ("code" in inline)
    return `\`${widthOf(inline.code) > MAX_WHOLE_CODE ? inline.code : fixed(inline.code)}\``;
  if ("strong" in inline) return inlineText(inline.strong);
  if ("emphasis" in inline) return inlineText(inline.emphasis);
  const words = inlineText(inline.link);
  return /^https?:/.test(inline.to) && words !== inline.to ? `${words} <${inline.to}>` : words;
}

/** The commands that show the pages to which this page links, each once. */
function linkedPages(blocks: readonly Block[]): readonly string[] {
  const names = blocks
    .flatMap(linksOf)
    .filter((to) => !/^(?:https?:|#)/.test(to))
    .map((to) => to.replace(/#.*/, ""));
  return [...new Set(names)].map((name) => fixed(`formsvc docs ${name}`));
}

function linksOf(block: Block): readonly string[] {
  if ("paragraph" in block) return linksIn(block.paragraph);
  if ("items" in block) return block.items.flat().flatMap(linksOf);
  return "head" in block ? block.rows.flat().flatMap(linksIn) : [];
}

function linksIn(inlines: Inlines): readonly string[] {
  return inlines.flatMap((inline) => {
    if (typeof inline === "string" || "code" in inline) return [];
    if ("strong" in inline) return linksIn(inline.strong);
    return "emphasis" in inline ? linksIn(inline.emphasis) : [inline.to];
  });
}

/** Breaks lines at spaces. A word that is too long gets a line of its own. */
function wrap(text: string, width: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/[ \n]+/)) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}

function fixed(text: string): string {
  return text.replaceAll(" ", FIXED_SPACE);
}

function indent(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}

function widthOf(text: string): number {
  return Array.from(text).length;
}
