const THIS_MACHINE = /^(127|\[|localhost)/;

/**
 * Asks before what was typed into a `form[data-unsaved]` is lost, and shows the number of changes if the form knows the stored values.
 * Without a network it asks before the form is sent too, because the browser's own page would take the place of the form. It does
 * not ask if the server is on the same machine, which needs no network.
 */
export function guardUnsaved(): void {
  const forms = [...document.querySelectorAll<HTMLFormElement>("form[data-unsaved]")].map(follow);
  addEventListener("beforeunload", (event) => {
    if (forms.some((isChanged) => isChanged())) event.preventDefault();
  });
}

/** Watches a form. Returns a function that tells whether something would be lost. */
function follow(form: HTMLFormElement): () => boolean {
  const saved = readSaved(form);
  let isTouched = false;
  let isLeaving = false;
  form.addEventListener("input", () => {
    isTouched = true;
    // The person stopped the browser, and goes on.
    isLeaving = false;
    if (saved) showCount(form, countChanged(form, saved));
  });
  form.addEventListener("submit", (event) => {
    isLeaving = navigator.onLine || THIS_MACHINE.test(location.host) || confirm("Offline. Send it?");
    if (!isLeaving) event.preventDefault();
  });
  form.querySelector("[data-undo]")?.addEventListener("click", () => (isLeaving = true));
  // A page that shows errors already contains what was typed.
  if (saved) showCount(form, countChanged(form, saved));
  return () => !isLeaving && (saved ? countChanged(form, saved) > 0 : isTouched);
}

/** The values that the inputs would have if nothing was typed, by name; null if the server does not say. */
function readSaved({ dataset }: HTMLFormElement): Readonly<Record<string, string>> | null {
  return JSON.parse(dataset["unsaved"] || "null") as Readonly<Record<string, string>> | null;
}

function countChanged(form: HTMLFormElement, saved: Readonly<Record<string, string>>): number {
  const typed = new FormData(form);
  return Object.entries(saved).filter(([name, value]) => (typed.get(name) ?? "") !== value).length;
}

/** Shows the number of changes in place of the line's first text, which is restored at 0. */
function showCount(form: HTMLFormElement, count: number): void {
  const line = form.querySelector<HTMLElement>("[data-unsaved-count]");
  const undo = form.querySelector<HTMLElement>("[data-undo]");
  if (!line || !undo) return;
  const before = (line.dataset["before"] ??= line.textContent);
  const text = count === 0 ? before : changes(count);
  if (line.textContent !== text) line.textContent = text;
  undo.hidden = count === 0;
}

function changes(count: number): string {
  return `${count} change${count === 1 ? " is" : "s are"} not saved`;
}
