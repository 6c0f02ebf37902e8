import type { Readable } from "node:stream";

/** Leaves an answer's body unread, and ends its connection. That it was cut off is an error that nobody wants to know. */
export function abandon(body: Readable): void {
  body.on("error", () => undefined).destroy();
}
