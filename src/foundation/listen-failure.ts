import { FormsvcError } from "./errors.ts";
import type { Hint, Listener } from "./hint.ts";

type ListenHint = Extract<Hint, { readonly listener: Listener }>["kind"];

/** The reasons by the error codes of the operating system, each with a hint that helps. */
const REASONS: Readonly<Record<string, readonly [reason: string, hint: ListenHint]>> = {
  EADDRINUSE: ["the port is taken", "choose_free_port"],
  EACCES: ["this user may not listen there", "choose_high_port"],
  ENOTFOUND: ["there is no such name", "choose_known_host"],
  EADDRNOTAVAIL: ["this machine does not have that address", "choose_own_address"],
};

/** Explains why listening on an address failed. @param address As the message names it. */
export function listenFailure(
  cause: NodeJS.ErrnoException,
  address: string,
  listener: Listener,
): FormsvcError {
  const [reason, kind] = REASONS[cause.code ?? ""] ?? [cause.message, null];
  return new FormsvcError("failed", `${address}: ${reason}`, {
    cause,
    ...(kind !== null && { hint: { kind, listener } }),
  });
}
