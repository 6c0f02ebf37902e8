import { commandKey } from "./key-meaning.ts";
import { currentRow, moveRow, openRow, returnToRow, tickRow } from "./rows.ts";
import { rowBoxes } from "./selection.ts";

/** The name under which the browser stores that a person wants no keys. Software for speech types letters by itself (WCAG 2.1.4). */
const SETTING = "formsvc-keys";

/** The keys that move in the rows of a list. Every other key presses the element that names it with `data-key`. */
const ROW_KEYS: Readonly<Record<string, () => boolean>> = {
  j: () => moveRow(1),
  k: () => moveRow(-1),
  o: openRow,
  // A link opens by itself. On a checkbox a browser would send the form.
  Enter: () => document.activeElement instanceof HTMLInputElement && openRow(),
  x: tickRow,
};

export function listenToKeys(): void {
  for (const button of document.querySelectorAll<HTMLElement>("[data-opens]"))
    button.addEventListener("click", () => dialogOf(button)?.showModal());
  returnToRow();
  document.addEventListener("keydown", (event) => {
    if (!keysAreOn() || document.querySelector("dialog[open]") !== null) return;
    const key = commandKey(event, event.target as HTMLElement);
    if (key === null) return;
    if (press(key) || ROW_KEYS[key]?.() === true) event.preventDefault();
  });
}

/** Connects every `[data-keys-setting]` checkbox to the setting. */
export function showKeysSetting(): void {
  const boxes = document.querySelectorAll<HTMLInputElement>("input[data-keys-setting]");
  const show = (): void => {
    document.documentElement.classList.toggle("no-keys", !keysAreOn());
    for (const box of boxes) box.checked = keysAreOn();
  };
  show();
  for (const box of boxes) {
    box.addEventListener("change", () => {
      switchKeys(box.checked);
      show();
    });
  }
}

/** The keys are on in a browser that cannot store the setting. */
function keysAreOn(): boolean {
  try {
    return localStorage.getItem(SETTING) !== "off";
  } catch {
    return true;
  }
}

function switchKeys(areOn: boolean): void {
  try {
    if (areOn) localStorage.removeItem(SETTING);
    else localStorage.setItem(SETTING, "off");
  } catch {
    // The setting cannot be stored. The checkbox shows that by not changing.
  }
}

function dialogOf(button: HTMLElement): HTMLDialogElement | null {
  const found = document.getElementById(button.dataset["opens"] ?? "");
  return found instanceof HTMLDialogElement ? found : null;
}

/** Presses the element that names the key. Returns whether there is one. */
function press(key: string): boolean {
  const named = [...document.querySelectorAll<HTMLElement>("[data-key]")];
  const target = named.find((each) => each.dataset["key"] === key);
  if (target === undefined) return false;
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) target.focus();
  else if (target instanceof HTMLButtonElement) pressButton(target);
  else target.click();
  return true;
}

/**
 * Presses a button. If it is for ticked rows and none is ticked, it ticks the row that has the focus; without such a row it does nothing.
 */
function pressButton(button: HTMLButtonElement): void {
  const boxes = button.form === null ? [] : rowBoxes(button.form);
  if (boxes.length > 0 && boxes.every(({ checked }) => !checked)) {
    const box = boxes.find((each) => currentRow()?.contains(each) === true);
    if (box === undefined) return;
    box.checked = true;
  }
  button.click();
}
