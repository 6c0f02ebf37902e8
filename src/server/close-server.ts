import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { serverGraceOver } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

const IDLE_CHECK_MS = 50;

/** Closes a server: the requests under way are answered, and those that take longer than the grace are cut off. */
export type CloseServer = (graceMs: number) => Promise<void>;

/**
 * Prepares the close. Call before the server listens. @param mayCloseIdle returns whether connections without a request may be closed
 * already.
 */
export function prepareClose(server: FastifyInstance, mayCloseIdle: () => boolean, log: Log): CloseServer {
  const sockets = followSockets(server);
  return async (graceMs) => {
    const deadline = setTimeout(() => {
      serverGraceOver(log);
      for (const socket of sockets) socket.destroy();
    }, graceMs);
    // Repeated, because a connection whose answer was under way at the stop becomes idle later, and its client may keep it open.
    const idle = setInterval(() => {
      if (mayCloseIdle()) server.server.closeIdleConnections();
    }, IDLE_CHECK_MS);
    await server.close().catch(ignoreNotListening);
    clearInterval(idle);
    clearTimeout(deadline);
  };
}

/** Every open connection, also those that Node's HTTP server no longer tracks. */
function followSockets(server: FastifyInstance): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

function ignoreNotListening(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ERR_SERVER_NOT_RUNNING") throw error;
}
