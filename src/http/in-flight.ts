import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/** Counts requests that are somewhere on their way. */
export interface InFlight {
  /** Counts a request until it leaves or its socket is closed; returns how many there are now. */
  enter(request: IncomingMessage): number;
  leave(request: IncomingMessage): void;
  /** How many there are now. */
  count(): number;
  /** How many of them came over this socket. */
  countOf(socket: Socket): number;
}

/** A client may leave at any moment, with answers owed, so what is under way is counted by socket. */
export function countInFlight(server: Server): InFlight {
  const open = new Map<Socket, Set<IncomingMessage>>();
  let total = 0;
  server.on("connection", (socket: Socket) => {
    socket.once("close", () => {
      total -= open.get(socket)?.size ?? 0;
      open.delete(socket);
    });
  });
  return {
    enter(request) {
      const owed = open.get(request.socket);
      if (owed === undefined) open.set(request.socket, new Set([request]));
      else owed.add(request);
      total += 1;
      return total;
    },
    leave(request) {
      if (open.get(request.socket)?.delete(request) === true) total -= 1;
    },
    count: () => total,
    countOf: (socket) => open.get(socket)?.size ?? 0,
  };
}
