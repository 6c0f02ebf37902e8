import type { Accepted, UploadProgress, Refused, Result } from "./client-api.ts";
import { viewOf } from "./form-view.ts";
import { clearErrors, setOrRemove, showErrors, statusOf } from "./messages.ts";
import { randomKey, send } from "./send.ts";
import { type PostAttempt, sendProved } from "./task.ts";

const HONEYPOT = "_gotcha";
const ELAPSED = "_elapsed_ms";
export const LANGUAGE = "_language";
export const PROOF = "_pow";

/** A post that is not known to be stored. */
interface OpenPost extends PostAttempt {
  readonly content: string;
  readonly key: string;
  readonly elapsed: string;
}

/** The state of one form of the page. */
interface FormState {
  readonly view: HTMLFormElement;
  /** When the form was first seen, in milliseconds of the page's own clock. */
  readonly seenAt: number;
  busy: boolean;
  /** The last attempt that is not known to be stored. If the same content is sent again, it is the same post. */
  open: OpenPost | null;
}

const states = new WeakMap<HTMLFormElement, FormState>();

/** Adds what a form needs before it is sent. A form that was prepared before is not changed. */
export function prepare(form: HTMLFormElement): FormState {
  let state = states.get(form);
  if (state === undefined) {
    const view = viewOf(form);
    state = { view, seenAt: performance.now(), busy: false, open: null };
    states.set(form, state);
    statusOf(view);
    if (view.querySelector(`[name=${HONEYPOT}]`) === null) view.append(honeypot());
  }
  return state;
}

/** An input off the screen, not reachable by keyboard and hidden from screen readers: only a robot fills it. */
function honeypot(): HTMLElement {
  const input = document.createElement("input");
  input.name = HONEYPOT;
  input.tabIndex = -1;
  input.autocomplete = "off";
  input.setAttribute("aria-hidden", "true");
  input.style.cssText = "position:absolute;left:-9999px";
  return input;
}

/** Sends the form in the background, and shows the result on the page. */
export async function submitForm(sent: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  const state = prepare(sent);
  if (state.busy) return;
  const form = state.view;
  const data = new FormData(sent, submitter);
  // The visitor reads the answers in the language of the form. An empty value leaves the choice to the server, and makes it send a sentence
  // of thanks.
  if (!data.has(LANGUAGE)) {
    const around = form.closest<HTMLElement>("[lang]");
    data.set(LANGUAGE, around === null ? "" : viewOf(around).lang);
  }
  if (!dispatch(form, "submit", { data })) return;
  setBusy(form, state, true);
  clearErrors(form);
  try {
    const address = absolute(form.getAttribute("action") ?? "");
    const named = form.dataset["formsvcChallenge"];
    const [, key] = /\/f\/([^/?#]+)$/.exec(address) ?? [];
    const task = named ?? (key && `../challenge?key=${key}`);
    const post = openPost(data, state);
    const headers = { Accept: "application/json", "Idempotency-Key": post.key };
    const language = data.get(LANGUAGE);
    const result = await sendProved(
      post,
      task && !data.has(PROOF) ? absolute(task, address) : "",
      !!named,
      () => {
        const body = bodyOf(data, post);
        const onProgress =
          body === data ? (at: UploadProgress) => void dispatch(form, "progress", at) : undefined;
        return send(address, { language, body, headers, onProgress });
      },
    );
    finish(form, state, data, result);
  } finally {
    setBusy(form, state, false);
  }
}

function absolute(path: string, base = document.baseURI): string {
  return new URL(path, base).href;
}

/** The members that the services of challenges add. Their tokens are new for each attempt, also of the same post. */
const TOKEN = /^(cf-turnstile|h-captcha|g-recaptcha)-response$/;

/** The open attempt if the content is the same, else a new one. */
function openPost(data: FormData, state: FormState): OpenPost {
  const content = JSON.stringify([...data].filter(([name]) => !TOKEN.test(name)).map(partOf));
  if (state.open?.content !== content) {
    const elapsed = String(Math.round(performance.now() - state.seenAt));
    state.open = { content, key: randomKey(), elapsed };
  }
  return state.open;
}

/** What tells one value from another: of a file what is known without reading it. */
const partOf = ([name, value]: [string, FormDataEntryValue]): unknown[] => [
  name,
  value,
  (value as Partial<File>).name,
  (value as Partial<File>).lastModified,
];

/** The body: multipart only if there is a file. A server that accepts no files explains its refusal. */
function bodyOf(data: FormData, { elapsed, proof }: OpenPost): FormData | URLSearchParams {
  data.set(ELAPSED, elapsed);
  if (proof !== undefined) data.set(PROOF, proof);
  const parts = [...data];
  // An empty file input contains a file without a name and content.
  if (parts.some(([, value]) => (value as Partial<File>).name)) return data;
  return new URLSearchParams(parts.filter((part): part is [string, string] => typeof part[1] === "string"));
}

/** Asks the services for new tokens. A service accepts a token once, so a post that was checked needs another. */
function renewTasks(form: HTMLFormElement): void {
  const services = window as unknown as Record<string, { reset(which?: unknown): void } | undefined>;
  const turnstile = form.querySelector(".cf-turnstile");
  if (turnstile) services["turnstile"]?.reset(turnstile);
  const hcaptcha = form.querySelector<HTMLElement>("[data-hcaptcha-widget-id]");
  if (hcaptcha) services["hcaptcha"]?.reset(hcaptcha.dataset["hcaptchaWidgetId"]);
}

function finish(form: HTMLFormElement, state: FormState, data: FormData, result: Result): void {
  if (result.ok || result.status !== 400) renewTasks(form);
  if (!result.ok) {
    // A post that was certainly not stored may be sent as a new one. A post that may be stored keeps its key.
    if (result.status !== 0 && result.status < 500) state.open = null;
    if (!dispatch(form, "error", result)) return;
    showErrors(form, result);
    // A held post is kept by the server, so a second press must not send it again.
    if (result.notices?.includes("held")) form.reset();
    return;
  }
  state.open = null;
  if (!dispatch(form, "success", result)) return;
  form.reset();
  const next = data.get("_redirect");
  if (typeof next === "string" && /^https?:/.test(absolute(next))) {
    location.assign(next);
  } else {
    statusOf(form).textContent =
      form.dataset["formsvcSuccess"] ?? result.visitor_message ?? "Thank you. Your answers were received.";
  }
}

function setBusy(form: HTMLFormElement, state: FormState, busy: boolean): void {
  state.busy = busy;
  // `disabled` is not used, because it would move the keyboard's focus away.
  for (const element of [form, ...form.querySelectorAll("button:not([type=button]), [type=submit]")]) {
    setOrRemove(element, element === form ? "aria-busy" : "aria-disabled", busy ? "true" : "");
  }
}

/** Dispatches an event. Returns false if a listener took over. */
function dispatch(
  form: HTMLFormElement,
  name: "submit" | "progress" | "success" | "error",
  detail: Accepted | Refused | UploadProgress | { readonly data: FormData },
): boolean {
  return form.dispatchEvent(new CustomEvent(`formsvc:${name}`, { bubbles: true, cancelable: true, detail }));
}
