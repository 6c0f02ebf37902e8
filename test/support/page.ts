const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** The text of a page's markup, as a browser reads it. */
export function unescaped(markup: string): string {
  return markup.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/** A form of a page. */
export interface PageForm {
  readonly action: string;
  /** What a browser sends of it; a button adds its own name and value. */
  readonly values: URLSearchParams;
}

/** The form with this action, or else the first whose action begins so. It reads the markup of our own pages, and no other. */
export function formOf(page: string, action: string): PageForm {
  const forms = [...page.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, tag = "", inside = ""]) => {
    return { action: attribute(tag, "action") ?? "", inside };
  });
  const found =
    forms.find((form) => form.action === action) ?? forms.find((form) => form.action.startsWith(action));
  if (found === undefined) throw new Error(`the page has no form for ${action}`);
  const values = new URLSearchParams();
  for (const [, input, area, text = "", select, options = ""] of found.inside.matchAll(CONTROLS)) {
    const attributes = input ?? area ?? select ?? "";
    const name = attribute(attributes, "name");
    if (name === null) continue;
    if (area !== undefined) values.append(name, sent(unescaped(text.replace(/^\n/, ""))));
    else if (select !== undefined) values.append(name, chosen(options));
    else if (!/type="(?:checkbox|radio)"/.test(attributes) || /\schecked\b/.test(attributes))
      values.append(name, attribute(attributes, "value") ?? "");
  }
  return { action: found.action, values };
}

const CONTROLS =
  /<input\b([^>]*)>|<textarea\b([^>]*)>([\s\S]*?)<\/textarea>|<select\b([^>]*)>([\s\S]*?)<\/select>/g;

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : unescaped(value);
}

function chosen(options: string): string {
  const all = [...options.matchAll(/<option\b([^>]*)>/g)].map(([, option = ""]) => option);
  return attribute(all.find((option) => /\sselected\b/.test(option)) ?? all[0] ?? "", "value") ?? "";
}

/** Browsers send every line break as two characters, and text that is well formed. */
function sent(text: string): string {
  return text.toWellFormed().replaceAll(/\r\n|\r|\n/g, "\r\n");
}
