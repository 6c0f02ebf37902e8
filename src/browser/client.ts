import type { Formsvc } from "./client-api.ts";
import { LANGUAGE, prepare, PROOF, submitForm } from "./enhance.ts";
import { viewOf } from "./form-view.ts";
import { randomKey, send } from "./send.ts";
import { type PostAttempt, sendProved } from "./task.ts";

const FORMS = "form[data-formsvc]";

/** @param serverOf returns the address that `submit` uses if the caller names no server */
export function createSubmit(serverOf: () => string): Formsvc["submit"] {
  return async (key, data, options = {}) => {
    const server = options.server === undefined ? serverOf() : `${options.server}/`;
    const task = key.startsWith("fpk_") ? new URL(`challenge?key=${key}`, server).href : "";
    const attempt: PostAttempt = {};
    const headers = {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": options.idempotencyKey ?? randomKey(),
    };
    return sendProved(attempt, task, false, () =>
      send(new URL("submit", server).href, {
        language: Object(data)[LANGUAGE] ?? pageLanguage(),
        body: JSON.stringify({ [PROOF]: attempt.proof, ...data }),
        headers,
      }),
    );
  };
}

/** Undefined without a page, as in a server that loads the module. */
function pageLanguage(): string | undefined {
  return globalThis.document?.documentElement.lang;
}

/** Sends every marked form of the page by script, including forms that are added later. */
export function enhanceForms(): void {
  addEventListener("focusin", ({ target }) => {
    const form = formOf(target);
    if (form !== null) prepare(form);
  });
  addEventListener("submit", (event) => {
    const form = formOf(event.target);
    if (form === null || event.defaultPrevented) return;
    event.preventDefault();
    void submitForm(form, event.submitter);
  });
  const prepareAll = (): void => document.querySelectorAll<HTMLFormElement>(FORMS).forEach(prepare);
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", prepareAll);
  else prepareAll();
}

function formOf(target: EventTarget | null): HTMLFormElement | null {
  return target instanceof HTMLElement ? viewOf(target).closest<HTMLFormElement>(FORMS) : null;
}
