import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { LiveStreams } from "./live.ts";
import type { Routes } from "./routes.ts";

/**
 * `/dashboard/events`: a stream that says how many new submissions came. `after` is the id of the newest submission that the page shows.
 */
export function livePages(routes: Routes, live: LiveStreams): void {
  routes.read("/events", async ({ viewer, query, request }) => {
    // A HEAD request would open a stream that nobody reads.
    const content = request.method === "GET" ? await live.open(viewer, query.get("after")) : null;
    if (content !== null) endWithClient(content, request.raw.socket);
    return { kind: "events", content };
  });
}

/** Ends the stream when its client closes its side. Such a client could still read, but a browser that does so has left the page. */
function endWithClient(content: Readable, socket: Socket): void {
  const leave = (): void => void content.destroy();
  if (socket.destroyed || socket.readableEnded) leave();
  socket.once("end", leave);
  content.once("close", () => socket.off("end", leave));
}
