import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Counts the requests that are being answered. */
export interface InFlight {
  /** Counts a request until its answer is sent or its socket closed; returns how many there are now. */
  enter(request: IncomingMessage, response: ServerResponse): number;
}

/**
 * A client may leave at any moment. Of the answers that a closed socket owes, Node only tells the first one, so what
 * is left is counted by socket.
 */
export function countInFlight(server: Server): InFlight {
  const open = new Map<Socket, number>();
  let total = 0;
  server.on("connection", (socket: Socket) => {
    socket.once("close", () => {
      total -= open.get(socket) ?? 0;
      open.delete(socket);
    });
  });
  return {
    enter(request, response) {
      const { socket } = request;
      total += 1;
      open.set(socket, (open.get(socket) ?? 0) + 1);
      response.once("close", () => {
        const owed = open.get(socket);
        if (owed === undefined) return;
        total -= 1;
        if (owed === 1) open.delete(socket);
        else open.set(socket, owed - 1);
      });
      return total;
    },
  };
}
