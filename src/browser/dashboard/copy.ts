const SHOWN_MS = 2000;

/** Makes each `[data-copy]` button copy, and announces it to screen readers too. */
export function addCopyButtons(): void {
  const buttons = document.querySelectorAll<HTMLElement>("[data-copy]");
  if (buttons.length === 0) return;
  const said = document.createElement("p");
  said.className = "hidden-text";
  said.setAttribute("role", "status");
  document.body.append(said);
  for (const button of buttons) button.addEventListener("click", () => void copyFor(button, said));
}

async function copyFor(button: HTMLElement, said: HTMLElement): Promise<void> {
  const source = sourceOf(button);
  if (source === null) return;
  const outcome = await copy(source);
  said.textContent = outcome;
  const label = (button.dataset["label"] ??= button.textContent);
  button.textContent = outcome;
  setTimeout(() => {
    button.textContent = label;
    said.textContent = "";
  }, SHOWN_MS);
}

function sourceOf(button: HTMLElement): HTMLElement | null {
  const id = button.dataset["copy"];
  return id ? document.getElementById(id) : (button.parentElement?.querySelector("code") ?? null);
}

/**
 * Copies and returns the result in words. If the browser forbids copying, the text stays selected, so that the person can copy it by
 * keyboard.
 */
async function copy(source: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return "Copied";
  } catch {
    getSelection()?.selectAllChildren(source);
    return "Selected: press Ctrl+C";
  }
}
