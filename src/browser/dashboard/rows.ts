/** The name under which a list stores the index of its row while one of its forms is sent. */
const POSITION = "formsvc-row";

/** The row that has the keyboard focus; null outside of a list. */
export function currentRow(): Element | null {
  const { activeElement } = document;
  return rows().find((row) => row.contains(activeElement)) ?? null;
}

/** Moves the focus by one row, or to the first row if no row has it. Returns whether there are rows. */
export function moveRow(by: 1 | -1): boolean {
  const all = rows();
  const current = currentRow();
  const next = current === null ? 0 : Math.min(Math.max(all.indexOf(current) + by, 0), all.length - 1);
  return focusRow(all[next]);
}

/** Opens the first link of the row that has the focus. */
export function openRow(): boolean {
  const link = linkOf(currentRow());
  link?.click();
  return link !== null;
}

/** Toggles the checkbox of the row that has the focus. */
export function tickRow(): boolean {
  const box = currentRow()?.querySelector<HTMLElement>("input[type=checkbox]");
  box?.click();
  return box !== null && box !== undefined;
}

/**
 * Moves the focus to the former position in the list after a change has reloaded the page, so that somebody who sorts by keyboard can go
 * on.
 */
export function returnToRow(): void {
  const stored = sessionStorage.getItem(POSITION);
  sessionStorage.removeItem(POSITION);
  const [path, index] = stored?.split(" ") ?? [];
  const all = rows();
  if (path === location.pathname) focusRow(all[Math.min(Number(index), all.length - 1)]);
  document.addEventListener("submit", () => {
    const current = currentRow();
    if (current !== null) sessionStorage.setItem(POSITION, `${location.pathname} ${rows().indexOf(current)}`);
  });
}

function rows(): Element[] {
  return [...document.querySelectorAll("[data-rows] > *")].filter((row) => linkOf(row) !== null);
}

function focusRow(row: Element | undefined): boolean {
  const link = linkOf(row ?? null);
  link?.focus();
  return link !== null;
}

function linkOf(row: Element | null): HTMLAnchorElement | null {
  return row?.querySelector<HTMLAnchorElement>("a[href]") ?? null;
}
