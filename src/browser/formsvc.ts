import { createSubmit, enhanceForms } from "./client.ts";

/** The script's own address is the server's; it is unknown if a bundler took the script in. */
const server = (document.currentScript as HTMLScriptElement | null)?.src ?? document.baseURI;

globalThis.formsvc = { submit: createSubmit(() => server) };
enhanceForms();
