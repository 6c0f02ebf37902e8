/** A form on a page, with the values that it has when everything in it is ticked, and its buttons. */
export interface ShownForm {
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The names and values of the buttons that send the form. A button without a name is a pair of empty texts. */
  readonly buttons: readonly (readonly [name: string, value: string])[];
}

/** Finds the forms of a page that are sent by POST. It reads only markup of our own templates, whose attributes have double quotes. */
export function formsIn(markup: string, address: string): ShownForm[] {
  const forms = [...markup.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)];
  return forms
    .map(([, attributes = "", content = ""]) => ({ attributes, content }))
    .filter(({ attributes }) => attributeOf(attributes, "method") === "post")
    .flatMap(({ attributes, content }) => {
      const id = attributeOf(attributes, "id");
      const outside =
        id === null
          ? ""
          : [...markup.matchAll(/<(?:input|button|select|textarea)\b[^>]*>/g)]
              .map(([tag]) => tag)
              .filter((tag) => attributeOf(tag, "form") === id)
              .join("");
      return oneForm(attributeOf(attributes, "action") ?? address, content + outside);
    });
}

function oneForm(action: string, content: string): ShownForm[] {
  const fields: [string, string][] = [];
  const buttons: { name: string; value: string; action: string }[] = [];
  for (const [tag, kind] of content.matchAll(/<(input|button|select|textarea)\b[^>]*>/g)) {
    const name = attributeOf(tag, "name") ?? "";
    const value = attributeOf(tag, "value") ?? (kind === "input" ? "" : "text");
    if (kind === "button") {
      if (attributeOf(tag, "type") !== "button")
        buttons.push({
          name,
          value: attributeOf(tag, "value") ?? "",
          action: attributeOf(tag, "formaction") ?? action,
        });
    } else if (kind === "select") fields.push([name, selectedIn(content, tag)]);
    else if (name !== "") fields.push([name, value]);
  }
  const actions = new Set([action, ...buttons.map((button) => button.action)]);
  return [...actions]
    .map((each) => ({
      action: each,
      fields,
      buttons: buttons
        .filter((button) => button.action === each)
        .map(({ name, value }): [string, string] => [name, value]),
    }))
    .filter((form) => form.buttons.length > 0 || buttons.length === 0);
}

function selectedIn(content: string, tag: string): string {
  const options = content.slice(content.indexOf(tag)).split("</select>", 1)[0] ?? "";
  const all = [...options.matchAll(/<option\b[^>]*>/g)].map(([option]) => option);
  const chosen = all.find((option) => /\sselected\b/.test(option)) ?? all[0] ?? "";
  return attributeOf(chosen, "value") ?? "";
}

function attributeOf(tag: string, name: string): string | null {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag);
  return found === null ? null : unescapeHtml(found[1] ?? "");
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function unescapeHtml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => CHARACTERS[name] ?? whole);
}
