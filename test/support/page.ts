const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** Replaces the entities in a page's markup, as a browser does. */
export function unescaped(markup: string): string {
  return markup.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/** A form of a page. */
export interface PageForm {
  readonly action: string;
  /** The values that a browser sends. A button adds its own name and value. */
  readonly values: URLSearchParams;
}

/** Finds the form with this action, or else the first one whose action begins with it. It reads only the markup of our own pages. */
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

/** Changes a text as browsers do before they send it: each line break becomes two characters, and the text becomes well-formed. */
function sent(text: string): string {
  return text.toWellFormed().replaceAll(/\r\n|\r|\n/g, "\r\n");
}
