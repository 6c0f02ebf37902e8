import type { Readable } from "node:stream";

/** Leaves the rest of an answer's body unread, and closes its connection. The error that this causes is ignored. */
export function abandon(body: Readable): void {
  body.on("error", () => undefined).destroy();
}
