import { NO_ANSWER, typedIn } from "./typed-form.ts";

/** Time after the last key until the preview is updated, because the person may go on typing. */
const WAIT_MS = 800;
/** The largest number of times that a form is sent because somebody typed while it was sent. */
const MAX_TRIES = 3;
/** If a dragged field is within `near` pixels of the edge of the window, each step scrolls the page by `step` pixels. */
const EDGE = { near: 48, step: 14 };

const FIELDS = "[data-fields]";
/** The names of the inputs of fields. */
const OF_DRAFT = /^(?:f\.|(?:view|words|version)$)/;
const PRESSED = /^(?:up|down|remove|retype|done)-\d+$|^add-\w+$/;

/**
 * Adds, moves and changes the fields of a form without loading the page again, so that the focus stays. The server renders
 * them, as it does without script. A field is moved by its buttons, by Alt with an arrow, and by dragging its grip.
 */
export function editFieldsInPlace(): void {
  const form = document.querySelector<HTMLElement>(FIELDS)?.closest("form") ?? null;
  if (form !== null) new FieldList(form).listen();
}

class FieldList {
  readonly #form: HTMLFormElement;
  #isBusy = false;
  #isTouched = false;
  #waiting = 0;

  constructor(form: HTMLFormElement) {
    this.#form = form;
  }

  listen(): void {
    const form = this.#form;
    form.addEventListener("click", (event) => this.#onClick(event));
    form.addEventListener("change", (event) => this.#onChange(event));
    form.addEventListener("keydown", (event) => this.#onKey(event));
    form.addEventListener("pointerdown", (event) => this.#onGrip(event));
    form.addEventListener("input", () => {
      this.#isTouched = true;
      clearTimeout(this.#waiting);
      this.#waiting = setTimeout(() => void this.#show("look"), WAIT_MS);
    });
    const keep = (): void => {
      if (this.#isTouched) history.replaceState(this.#draft(), "");
    };
    form.addEventListener("change", keep);
    addEventListener("beforeunload", keep);
    addEventListener("pageshow", () => void this.#comeBack());
  }

  /**
   * Shows the draft that this entry of the browser's history has. After Back, the browser fills in what was typed by the places of the
   * inputs. It does not know which fields there were, nor does the server's page.
   */
  async #comeBack(): Promise<void> {
    const [form, draft] = [typedIn(this.#form, "back"), new URLSearchParams(history.state as string)];
    // A draft that was saved has a former version.
    if (!draft.has("view") || draft.get("version") !== form.get("version")) return;
    const others = [...form].filter(([name]) => !OF_DRAFT.test(name));
    const page = await pageFor(this.#form, new URLSearchParams([...others, ...draft]));
    if (page !== null) this.#replace(page, false);
  }

  #draft(): string {
    return String(new URLSearchParams([...typedIn(this.#form, "")].filter(([name]) => OF_DRAFT.test(name))));
  }

  #onClick(event: Event): void {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[name=action]");
    if (button === null || button.closest(FIELDS) === null || !PRESSED.test(button.value)) return;
    event.preventDefault();
    void this.#press(button.value, button);
  }

  #onChange({ target }: Event): void {
    if ((target as Element).matches("select[name=language]")) void this.#press("translate", null);
    const field = (target as Element).closest<HTMLElement>("[data-field]");
    if (field === null || !(target as Element).matches(".kind select")) return;
    void this.#press(`retype-${field.dataset["field"]}`, null);
  }

  #onKey(event: KeyboardEvent): void {
    const way = event.altKey ? { ArrowUp: "up", ArrowDown: "down" }[event.key] : undefined;
    const field = (event.target as Element).closest<HTMLElement>("[data-field]");
    if (way === undefined || field === null) return;
    event.preventDefault();
    field.querySelector<HTMLButtonElement>(`button[value^="${way}-"]:not(:disabled)`)?.click();
  }

  /** @param button sends the form as without script if the server does not answer; null does nothing in that case */
  async #press(action: string, button: HTMLButtonElement | null): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    clearTimeout(this.#waiting);
    try {
      const isShown = await this.#show(action);
      if (!isShown && button !== null) this.#form.requestSubmit(button);
    } finally {
      this.#isBusy = false;
    }
  }

  /**
   * Sends the form and shows the server's version. For the action `look` only the texts beside the inputs are replaced, and what rows are
   * called. Returns false if the form has to be sent as without script, because the server has to say something else. If it does not answer,
   * the page stays as it is and says so: leaving it would lose what was typed.
   */
  async #show(action: string): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const sent = typedIn(this.#form, action);
      const page = await pageFor(this.#form, sent);
      if (page === null) {
        if (action !== "look") this.#say(NO_ANSWER, "notice bad");
        return true;
      }
      if (page.querySelector(FIELDS) === null) return false;
      // If the person has typed on meanwhile, the form is sent again, so that nothing is lost.
      if (typedIn(this.#form, action).toString() !== sent.toString()) continue;
      this.#replace(page, action === "look");
      return true;
    }
    return false;
  }

  #replace(page: Document, isLook: boolean): void {
    swap(page, "[data-preview=right]", "[data-preview]");
    if (isLook) {
      for (const row of page.querySelectorAll("[data-field]"))
        for (const part of ["span:first-child", "small"])
          document
            .querySelector(`#${row.id} > details > summary > ${part}`)
            ?.replaceChildren(...(row.querySelector(`summary > ${part}`)?.childNodes ?? []));
      return;
    }
    const fields = page.querySelector(FIELDS);
    if (fields === null) return;
    swap(page, "[data-starts]");
    const focused = fields.querySelector<HTMLElement>("[autofocus]");
    // Browsers obey the attribute only when a page loads.
    focused?.removeAttribute("autofocus");
    this.#form.querySelector(FIELDS)?.replaceWith(fields);
    focused?.focus();
    focused?.scrollIntoView({ block: "nearest" });
    this.#say(page.querySelector("[data-say]")?.textContent ?? "", "hidden-text");
    // This informs the code that guards unsaved changes.
    this.#form.dispatchEvent(new Event("input"));
    clearTimeout(this.#waiting);
  }

  #say(text: string, className: string): void {
    const news = this.#form.querySelector("[data-say]");
    if (news !== null) Object.assign(news, { textContent: text, className });
  }

  #onGrip(event: PointerEvent): void {
    const grip = (event.target as Element).closest<HTMLElement>("[data-grip]");
    const row = grip?.closest<HTMLElement>("[data-field]") ?? null;
    if (row === null || this.#isBusy || event.button !== 0) return;
    event.preventDefault();
    row.classList.add("dragged");
    const before = row.nextElementSibling;
    const move = ({ clientY }: PointerEvent): void => dragTo(row, clientY);
    const end = ({ type }: Event): void => {
      removeEventListener("pointermove", move);
      for (const each of ENDS) removeEventListener(each, end);
      row.classList.remove("dragged");
      if (type === "pointercancel") row.parentElement?.insertBefore(row, before);
      const to = [...(row.parentElement?.children ?? [])].indexOf(row);
      if (String(to) !== row.dataset["field"]) void this.#press(`move-${row.dataset["field"]}-${to}`, null);
    };
    // The listener is not on the grip, because an element that moves in the page loses the pointer.
    addEventListener("pointermove", move);
    for (const each of ENDS) addEventListener(each, end);
  }
}

/** Replaces a part of the shown page with that of another one, if both have it. */
function swap(page: Document, from: string, to = from): void {
  const part = page.querySelector(from);
  if (part !== null) document.querySelector(to)?.replaceWith(part);
}

const ENDS = ["pointerup", "pointercancel"] as const;

/** Puts the row before the first one whose middle is below the pointer. */
function dragTo(row: HTMLElement, y: number): void {
  const list = row.parentElement;
  if (list === null) return;
  const others = [...list.children].filter((each) => each !== row);
  const below = others.find((each) => {
    const { top, height } = each.getBoundingClientRect();
    return y < top + height / 2;
  });
  if ((below ?? null) !== row.nextElementSibling) list.insertBefore(row, below ?? null);
  if (y < EDGE.near) scrollBy(0, -EDGE.step);
  else if (y > innerHeight - EDGE.near) scrollBy(0, EDGE.step);
}

/**
 * The page that sending the form leads to; an empty one if the answer is no page, and null if there is none. The browser parses it as a
 * document, so no text becomes markup here.
 */
function pageFor(form: HTMLFormElement, body: URLSearchParams): Promise<Document | null> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    // The form's buttons are named `action`, which hides the property.
    request.open("POST", form.getAttribute("action") ?? "");
    request.responseType = "document";
    request.addEventListener("loadend", () =>
      resolve(request.status === 0 ? null : (request.responseXML ?? new Document())),
    );
    request.send(body);
  });
}
