import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";

/** How an operation that makes something is told to refuse if it is there. @param what in which case it is refused */
export function onlyNew(what: string) {
  return z.boolean().default(false).describe(`Whether it is refused (409) if ${what}.`);
}

/** Somebody else made it after the caller had looked. */
export function thereByNow(what: string): FormsvcError {
  return new FormsvcError("already_exists", `${what} is there by now: somebody else made it meanwhile`);
}
