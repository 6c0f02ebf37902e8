/** Asks before what was typed into a `form[data-unsaved]` is lost. */
export function guardUnsaved(): void {
  let isChanged = false;
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-unsaved]")) {
    form.addEventListener("input", () => (isChanged = true));
    form.addEventListener("submit", () => (isChanged = false));
  }
  addEventListener("beforeunload", (event) => {
    if (isChanged) event.preventDefault();
  });
}
