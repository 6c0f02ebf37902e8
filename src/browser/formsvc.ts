import { createSubmit, enhanceForms } from "./client.ts";

/** The script's address, which is on the server; unknown if a bundler included the script. */
const server = (document.currentScript as HTMLScriptElement | null)?.src ?? document.baseURI;

globalThis.formsvc = { submit: createSubmit(() => server) };
enhanceForms();
