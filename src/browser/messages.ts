import type { Refused } from "./client-api.ts";

/** The attribute of the elements that this script added to show what is wrong with a field. */
const ERROR_MARK = "data-formsvc-error";
const STATUS_MARK = "data-formsvc-status";
const DESCRIBED_BY = "aria-describedby";

/** The element that shows the result: the page's own, else a new paragraph at the form's end. */
export function statusOf(form: HTMLFormElement): Element {
  const own = form.querySelector(`[${STATUS_MARK}]`);
  if (own !== null) return own;
  const status = document.createElement("p");
  status.setAttribute(STATUS_MARK, "");
  // Screen readers announce text that is put into it later.
  status.setAttribute("role", "status");
  form.append(status);
  return status;
}

export function clearErrors(form: HTMLFormElement): void {
  statusOf(form).textContent = "";
  for (const shown of form.querySelectorAll(`[${ERROR_MARK}]`)) {
    const input = form.querySelector(`[aria-describedby~="${shown.id}"]`);
    if (input !== null) {
      input.removeAttribute("aria-invalid");
      const described = input.getAttribute(DESCRIBED_BY)?.split(" ") ?? [];
      setOrRemove(input, DESCRIBED_BY, described.filter((id) => id !== shown.id).join(" "));
    }
    shown.remove();
  }
}

/** Sets an attribute; an empty one is removed. */
export function setOrRemove(element: Element, name: string, value: string): void {
  if (value) element.setAttribute(name, value);
  else element.removeAttribute(name);
}

/** Shows each field's problems next to its input, and moves the focus to the first of them on the page. */
export function showErrors(form: HTMLFormElement, refused: Refused): void {
  const { visitor_message: message, details = {} } = refused;
  const rest: string[] = [];
  for (const [name, { issues }] of Object.entries(details)) {
    const text = issues.map((issue) => issue.message).join(". ");
    const input = inputOf(form, name);
    if (input === undefined) rest.push(text);
    else showError(input, text);
  }
  // The first on the page, whose order may be another one than the schema's.
  const first = [...form.elements].find((input) => input.getAttribute("aria-invalid") === "true") as
    | HTMLElement
    | undefined;
  statusOf(form).textContent =
    first || rest[0] ? [form.dataset["formsvcInvalid"] ?? message, ...rest].join(" ") : message;
  first?.focus();
}

let errors = 0;

function showError(input: HTMLElement, text: string): void {
  const shown = document.createElement("span");
  shown.id = `formsvc-error-${(errors += 1)}`;
  shown.setAttribute(ERROR_MARK, "");
  shown.textContent = text;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute(DESCRIBED_BY, [input.getAttribute(DESCRIBED_BY), shown.id].join(" ").trim());
  // The message is put after a label that contains the input, so that it does not become part of the input's name.
  (input.closest("label") ?? input).after(shown);
}

/** The first input of a field: its name is the field's, `name[]` or `name[member]`. */
function inputOf(form: HTMLFormElement, name: string): HTMLElement | undefined {
  return [...form.elements].find((element): element is HTMLElement => {
    const given = element.getAttribute("name") ?? "";
    const hidden = element.getAttribute("type") === "hidden";
    return !hidden && (given === name || given.startsWith(`${name}[`));
  });
}
