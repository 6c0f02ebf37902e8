import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { Marked, type Tokens } from "marked";

/** The pages of docs/ that the dashboard serves at `/dashboard/help/…`, so that they are true for this version. */

const docs = new URL("../docs/", import.meta.url);
const target = new URL("../src/dashboard/help.generated.ts", import.meta.url);

export interface HelpPage {
  readonly title: string;
  /** Markup, without the first heading. */
  readonly markup: string;
}

/** By name, like `spam` or `recipes-hugo`. */
export function renderHelpPages(): Record<string, HelpPage> {
  const files = readdirSync(docs, { recursive: true, encoding: "utf8" });
  const paths = files.filter((path) => path.endsWith(".md")).sort();
  const names = new Set(paths.map(nameOf));
  return Object.fromEntries(
    paths.map((path) => [nameOf(path), renderPage(readFileSync(new URL(path, docs), "utf8"), path, names)]),
  );
}

/** `recipes/hugo.md` is `recipes-hugo`, and the README of a folder has the folder's name. */
function nameOf(path: string): string {
  return path
    .replace(/\.md$/, "")
    .replace(/\/README$/, "")
    .replaceAll("/", "-");
}

function renderPage(text: string, path: string, names: ReadonlySet<string>): HelpPage {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? nameOf(path);
  const slugs = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      // What a page writes as HTML is shown as text: the site's policy would stop the rest.
      html: ({ text: source }) => escape(source),
      image: ({ text: words }) => escape(words),
      code: ({ text: source }) => `<pre tabindex="0"><code>${escape(source)}</code></pre>\n`,
      heading({ tokens, depth, text: words }: Tokens.Heading) {
        const id = slugOf(words, slugs);
        return depth === 1 ? "" : `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const words = this.parser.parseInline(tokens);
        const address = addressOf(href, path, names);
        return address === null ? words : `<a href="${escape(address)}">${words}</a>`;
      },
      table(token: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
        return `<div class="scroll" tabindex="0"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  return { title: title.replaceAll("`", ""), markup: marked.parse(text, { async: false }) };
}

/** The anchors that GitHub gives to headings. */
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

/** Where a link of a page leads from the dashboard; null for what is not served there, like a source file. */
function addressOf(href: string, from: string, names: ReadonlySet<string>): string | null {
  if (/^https?:\/\//.test(href) || href.startsWith("#")) return href;
  const url = new URL(href, new URL(from, "file:///docs/"));
  const name = nameOf(url.pathname.replace("/docs/", ""));
  return url.pathname.startsWith("/docs/") && names.has(name) ? `/dashboard/help/${name}${url.hash}` : null;
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** The source of the module that hands them to the server: packed, because most servers never show one. */
export function renderHelp(): string {
  const packed = brotliCompressSync(JSON.stringify(renderHelpPages())).toString("base64");
  return `// Made by scripts/embed-help.ts from docs/.\nexport const packedHelp =\n  ${JSON.stringify(packed)};\n`;
}

if (import.meta.main) writeFileSync(target, renderHelp());
