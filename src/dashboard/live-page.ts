import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { LiveStreams } from "./live.ts";
import type { Routes } from "./routes.ts";

/** `/dashboard/events`: says that something new came, and how many. `after` names the newest submission that the page shows. */
export function livePages(routes: Routes, live: LiveStreams): void {
  routes.read("/events", async ({ viewer, query, request }) => {
    // HEAD would open a stream that nobody reads.
    const content = request.method === "GET" ? await live.open(viewer, query.get("after")) : null;
    if (content !== null) endWithClient(content, request.raw.socket);
    return { kind: "events", content };
  });
}

/** A client that ended its side could still read an answer, but a browser that does so has left the page. */
function endWithClient(content: Readable, socket: Socket): void {
  const leave = (): void => void content.destroy();
  if (socket.destroyed || socket.readableEnded) leave();
  socket.once("end", leave);
  content.once("close", () => socket.off("end", leave));
}
