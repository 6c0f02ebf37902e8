/**
 * Markup in which every value is escaped, whatever it is and wherever it comes from:
 *
 *     html`<a href="${address}">${name}</a>`
 *
 * Only what this file made counts as markup. A posted value cannot pass for it: the class has a private member, which nothing that was
 * parsed from JSON can have.
 */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  /** For this file only. Other files use the `html` tag. */
  static fromMarkup(markup: string): Html {
    return new Html(markup);
  }

  static isHtml(value: unknown): value is Html {
    return typeof value === "object" && value !== null && #markup in value;
  }

  toString(): string {
    return this.#markup;
  }
}

/**
 * A value that can fill a hole. Null, undefined and false become nothing. A value of any other type, straight from a post, shows as JSON.
 */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/**
 * Makes markup from a template. A hole may stand in text, in a quoted attribute, or inside a tag. Inside a tag it takes only markup, like
 * `html\` checked\``. In an attribute that holds an address, only addresses of the web, of mail and of this site are kept; any other
 * becomes `#`.
 *
 * @throws TypeError on the first use of a template that has a hole in an attribute without quotes, in a comment, script or style.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const holes = holesOf(strings);
  let markup = strings[0] ?? "";
  for (const [index, value] of values.entries()) {
    markup += fill(holes[index] ?? "text", value) + (strings[index + 1] ?? "");
  }
  return Html.fromMarkup(markup);
}

/** A style sheet inside a page. @param css our own text, never a value from outside: nothing in it is escaped. */
export function styleElement(css: string): Html {
  if (css.includes("</")) throw new TypeError("a style sheet may not close its element");
  return Html.fromMarkup(`<style>${css}</style>`);
}

export function joinHtml(parts: readonly Html[], separator: Html | "" = ""): Html {
  return Html.fromMarkup(parts.map(String).join(String(separator)));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text escaped for HTML, between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? "");
}

/** Where a hole stands. `name` is directly after the name of a tag. */
type Hole = "text" | "attribute" | "address" | "tag" | "name";

function fill(hole: Hole, value: unknown): string {
  if (value === null || value === undefined || value === false) return "";
  if (Html.isHtml(value)) {
    if (hole === "name" && !String(value).startsWith(" "))
      throw new TypeError("markup behind the name of a tag begins with a space");
    if (hole === "address" || hole === "attribute")
      throw new TypeError("an attribute takes text, not markup");
    return String(value);
  }
  if (Array.isArray(value)) return value.map((each) => fill(hole, each)).join("");
  if (hole === "tag" || hole === "name") throw new TypeError("only markup may stand inside a tag");
  const text = asText(value);
  return escapeHtml(hole === "address" ? safeAddress(text) : text);
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
    return String(value);
  return JSON.stringify(value) ?? "";
}

/** Browsers remove these from an address before they read its scheme. */
const IGNORED_IN_ADDRESS = /[\u0000-\u0020\u007f]/g;
const SAFE_ADDRESS = /^(?:https?:|mailto:|\/(?![/\\])|[?#]|data:image\/(?:png|svg\+xml)[;,])/i;

function safeAddress(text: string): string {
  return text === "" || SAFE_ADDRESS.test(text.replace(IGNORED_IN_ADDRESS, "")) ? text : "#";
}

/** The analysed templates. The strings of one template are the same object each time, so each is analysed once. */
const known = new WeakMap<TemplateStringsArray, readonly Hole[]>();

function holesOf(strings: TemplateStringsArray): readonly Hole[] {
  let holes = known.get(strings);
  if (holes === undefined) {
    holes = findHoles(strings);
    known.set(strings, holes);
  }
  return holes;
}

const ADDRESS_ATTRIBUTE = /[\s"'](?:href|src|action|formaction)="$/i;
const OPENED_ATTRIBUTE = /[\s"'][\w:-]+="[^"]*$/;

function findHoles(strings: readonly string[]): Hole[] {
  const holes: Hole[] = [];
  let before = "";
  for (const text of strings.slice(0, -1)) {
    before += text;
    const hole = holeAfter(before);
    holes.push(hole);
    // Stands for the value: it neither closes nor opens anything.
    before += hole === "tag" || hole === "name" ? " " : "x";
  }
  return holes;
}

function holeAfter(before: string): Hole {
  if (/<(?:script|style)\b[^>]*>(?:(?!<\/(?:script|style)>)[\s\S])*$/i.test(before))
    throw new TypeError("a hole may not stand in a script or a style");
  if (before.lastIndexOf("<!--") > before.lastIndexOf("-->"))
    throw new TypeError("a hole may not stand in a comment");
  const tag = openTag(before);
  if (tag === null) return "text";
  const quotes = tag.split('"').length - 1;
  if (quotes % 2 === 1) {
    if (!OPENED_ATTRIBUTE.test(tag)) throw new TypeError(`an attribute has no name: ${tag.slice(-40)}`);
    return ADDRESS_ATTRIBUTE.test(tag) ? "address" : "attribute";
  }
  if (/<[a-z][\w-]*$/i.test(tag)) return "name";
  if (/[='</]\s*$/.test(tag))
    throw new TypeError(`an attribute's value needs double quotes: ${tag.slice(-40)}`);
  return "tag";
}

/** The text after the last `<` of a tag that is not closed yet; null between tags. */
function openTag(before: string): string | null {
  let start = -1;
  let quoted = false;
  for (let at = 0; at < before.length; at += 1) {
    const char = before[at];
    if (start < 0) {
      if (char === "<") start = at;
    } else if (char === '"') quoted = !quoted;
    else if (char === ">" && !quoted) start = -1;
  }
  return start < 0 ? null : before.slice(start);
}
