import type { Formsvc } from "./client-api.ts";
import { prepare, submitForm } from "./enhance.ts";
import { randomKey, send } from "./send.ts";

/** The script's own address is the server's; it is unknown if the script was imported as a module. */
const server = (document.currentScript as HTMLScriptElement | null)?.src ?? document.baseURI;

const FORMS = "form[data-formsvc]";

const client: Formsvc = {
  submit: (key, data, options = {}) =>
    send(new URL("submit", options.server === undefined ? server : `${options.server}/`).href, {
      body: JSON.stringify(data),
      headers: {
        Authorization: `Bearer ${key}`,
        "Content-Type": "application/json",
        "Idempotency-Key": options.idempotencyKey ?? randomKey(),
      },
    }),
};

globalThis.formsvc = client;

const formOf = (target: EventTarget | null): HTMLFormElement | null =>
  target instanceof Element ? target.closest<HTMLFormElement>(FORMS) : null;

// Listening on the document also covers forms that are added later.
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
