import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { Marked, type Token, type Tokens } from "marked";
import type { Block, Inline, Inlines, ManualPage } from "../src/manual/page.ts";

/** Embeds the pages of docs/ for `formsvc docs` and for the dashboard's help, so that the help describes this version. */

const docs = new URL("../docs/", import.meta.url);
const target = new URL("../src/manual/pages.generated.ts", import.meta.url);
const marked = new Marked({ gfm: true });

export interface ListedPage extends ManualPage {
  readonly name: string;
  readonly summary: string;
}

/**
 * Reads the pages in the order of docs/llms.txt. @throws if docs/llms.txt does not name every page, or if a page has markup that cannot be
 * shown
 */
export function readPages(): readonly ListedPage[] {
  const list = readFileSync(new URL("llms.txt", docs), "utf8");
  const lines = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+\.md)\): (.+)$/gm)];
  const paths = lines.map(([, path = ""]) => path);
  const files = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".md"),
  );
  const unlisted = files.filter((path) => !paths.includes(path));
  if (unlisted.length > 0) throw new Error(`docs/llms.txt needs a line for each of: ${unlisted.join(", ")}`);
  const names = new Set(paths.map(nameOf));
  return lines.map(([, path = "", summary = ""]) => {
    const text = readFileSync(new URL(path, docs), "utf8");
    const { title, blocks } = readPage(text, { path, names });
    return { name: nameOf(path), summary, title, blocks };
  });
}

/** The page that is being read, and the names of all pages. */
interface Place {
  readonly path: string;
  readonly names: ReadonlySet<string>;
}

/** Returns the name of a page: `recipes/hugo.md` is `recipes-hugo`, and the README of a folder has the folder's name. */
function nameOf(path: string): string {
  return path
    .replace(/\.md$/, "")
    .replace(/\/README$/, "")
    .replaceAll("/", "-");
}

function readPage(text: string, place: Place): ManualPage {
  const slugs = new Map<string, number>();
  const title = /^# (.+)$/m.exec(text)?.[1] ?? nameOf(place.path);
  return { title: title.replaceAll("`", ""), blocks: readBlocks(marked.lexer(text), place, slugs) };
}

function readBlocks(tokens: readonly Token[], place: Place, slugs: Map<string, number>): readonly Block[] {
  return tokens.flatMap((token): readonly Block[] => {
    switch (token.type) {
      case "space":
        return [];
      case "heading": {
        const { depth, text, tokens: words } = token as Tokens.Heading;
        const anchor = slugOf(text, slugs);
        return depth === 1 ? [] : [{ heading: readInlines(words, place), level: depth, anchor }];
      }
      case "paragraph":
      case "text":
        return [{ paragraph: readInlines((token as Tokens.Paragraph).tokens, place) }];
      case "code":
        return [{ code: (token as Tokens.Code).text }];
      case "html":
        // HTML in a page is shown as text, because the dashboard's policy would stop most of it.
        return [{ paragraph: [(token as Tokens.HTML).text.trimEnd()] }];
      case "list": {
        const { items, ordered } = token as Tokens.List;
        return [{ items: items.map((item) => readBlocks(item.tokens, place, slugs)), isOrdered: ordered }];
      }
      case "table": {
        const { header, rows } = token as Tokens.Table;
        const cells = (row: readonly Tokens.TableCell[]): readonly Inlines[] =>
          row.map((cell) => readInlines(cell.tokens, place));
        return [{ head: cells(header), rows: rows.map(cells) }];
      }
      default:
        throw new Error(`docs/${place.path}: a page of the documentation may not have a ${token.type}`);
    }
  });
}

function readInlines(tokens: readonly Token[], place: Place): Inlines {
  const inlines = tokens.flatMap((token): readonly Inline[] => {
    switch (token.type) {
      case "codespan":
        return [{ code: (token as Tokens.Codespan).text }];
      case "strong":
        return [{ strong: readInlines((token as Tokens.Strong).tokens, place) }];
      case "em":
        return [{ emphasis: readInlines((token as Tokens.Em).tokens, place) }];
      case "link": {
        const words = readInlines((token as Tokens.Link).tokens, place);
        const to = addressOf((token as Tokens.Link).href, place);
        return to === null ? words : [{ link: words, to }];
      }
      case "text":
      case "escape":
      case "image":
      case "html":
        return [(token as Tokens.Text).text];
      default:
        throw new Error(`docs/${place.path}: a line of the documentation may not have a ${token.type}`);
    }
  });
  return inlines.map((inline) => (typeof inline === "string" ? decode(inline) : inline));
}

/** Decodes the entities that pages use for characters which Markdown would interpret. */
function decode(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Makes the anchor that GitHub gives to a heading. */
function slugOf(heading: string, slugs: Map<string, number>): string {
  const slug = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
  const before = slugs.get(slug) ?? 0;
  slugs.set(slug, before + 1);
  return before === 0 ? slug : `${slug}-${before}`;
}

/** Returns where a link of a page leads; null for anything that is not a page of the documentation, like a source file. */
function addressOf(href: string, { path, names }: Place): string | null {
  if (/^https?:\/\//.test(href) || href.startsWith("#")) return href;
  const url = new URL(href, new URL(path, "file:///docs/"));
  const name = nameOf(url.pathname.replace("/docs/", ""));
  return url.pathname.startsWith("/docs/") && names.has(name) ? `${name}${url.hash}` : null;
}

/**
 * Writes the source of the module that contains the pages. They are compressed, because most programs never show one. Each page has its own
 * lines, so that changes of two pages do not conflict.
 */
export function renderHelp(): string {
  const entries = readPages().map(({ name, summary, title, blocks }) => {
    const packed = brotliCompressSync(JSON.stringify({ title, blocks } satisfies ManualPage)).toString(
      "base64",
    );
    return `  [\n    ${JSON.stringify(name)},\n    ${JSON.stringify(summary)},\n    ${JSON.stringify(packed)},\n  ],\n`;
  });
  const type = "readonly (readonly [name: string, summary: string, packed: string])[]";
  return `// Made by scripts/embed-help.ts from docs/.\nexport const packedPages: ${type} = [\n${entries.join("")}];\n`;
}

if (import.meta.main) writeFileSync(target, renderHelp());
