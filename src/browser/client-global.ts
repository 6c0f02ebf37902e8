import type { Formsvc } from "./client-api.ts";

declare global {
  var formsvc: Formsvc;
}
