/** Shows the rules of a field's new kind without loading the page again, so that the focus stays on the field. The server renders the rules. */
export function followFieldKinds(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-retype] button")) {
    const field = button.closest("fieldset");
    field?.querySelector("select")?.addEventListener("change", () => void showRules(field, button));
  }
}

async function showRules(field: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const { form } = button;
  if (form === null) return;
  const page = await pageFor(form, button);
  const rules = page?.getElementById(field.id)?.querySelector("[data-rules]") ?? null;
  // Signed out meanwhile, or offline: the browser then shows what is wrong.
  if (rules === null) form.requestSubmit(button);
  else field.querySelector("[data-rules]")?.replaceWith(rules);
}

/** The page that pressing the button leads to; null if there is none. The browser reads it as a document, so no text becomes markup here. */
function pageFor(form: HTMLFormElement, button: HTMLButtonElement): Promise<Document | null> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, button))
    if (typeof value === "string") body.append(name, value);
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    // Its buttons are named `action`, which hides the property.
    request.open("POST", form.getAttribute("action") ?? "");
    request.responseType = "document";
    request.addEventListener("loadend", () => resolve(request.responseXML));
    request.send(body);
  });
}
