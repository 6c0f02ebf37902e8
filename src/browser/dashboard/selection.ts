/** Ticks all rows at once, and shows how many are ticked. */
export function followSelection(): void {
  for (const all of document.querySelectorAll<HTMLInputElement>("input[data-select-all]")) {
    const form = all.form ?? all.closest("form");
    if (form !== null) followForm(form, all);
  }
}

function followForm(form: HTMLFormElement, all: HTMLInputElement): void {
  const boxes = rowBoxes(form);
  const counter = form.querySelector<HTMLElement>("[data-selected]");
  const show = (): void => {
    const count = boxes.filter(({ checked }) => checked).length;
    all.checked = count > 0 && count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
    if (counter !== null) counter.textContent = `${count} selected`;
    for (const box of boxes) box.closest("tr")?.classList.toggle("picked", box.checked);
  };
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    show();
  });
  form.addEventListener("change", show);
  // Browsers restore ticks after a reload.
  addEventListener("pageshow", () => {
    show();
    // Set only now, so that screen readers announce each later change, but not the first text.
    counter?.setAttribute("role", "status");
  });
}

/** The checkboxes in the rows of a form, including those outside of it that name it. */
export function rowBoxes(form: HTMLFormElement): HTMLInputElement[] {
  return [...form.elements].filter(
    (each): each is HTMLInputElement =>
      each instanceof HTMLInputElement && each.type === "checkbox" && each.closest("[data-rows]") !== null,
  );
}
