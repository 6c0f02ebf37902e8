import type { FormsvcModule } from "./client-api.ts";
import { createSubmit, enhanceForms as enhance } from "./client.ts";

/*
 * The module that `import` loads. Loading it does nothing and needs no page, so that a server can render the application that imports it.
 */

export const submit: FormsvcModule["submit"] = createSubmit(() => {
  // A bundler gives the module another address, within the site.
  if (/\/formsvc(?:-[\da-f]+)?\.mjs$/.test(new URL(import.meta.url).pathname)) return import.meta.url;
  throw new TypeError("formsvc: name the server in the options: submit(key, data, { server })");
});

let isEnhancing = false;

export const enhanceForms: FormsvcModule["enhanceForms"] = () => {
  if (!isEnhancing) enhance();
  isEnhancing = true;
};
