import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/** How long clients that are expected to send hold up a restart. */
const MAX_HAND_OVER_MS = 1000;
/** A client that was answered and sent nothing for so long is not about to send the next request. */
const QUIET_MS = 250;
const CHECK_MS = 50;

/**
 * Lets the clients of a server that is stopping go over to the next one, which has the same socket, without losing what
 * they send: to close a connection that looks idle would lose a request that is on its way. So the server takes no more
 * connections, which wait at the socket, and answers on those it has until their clients, told by `Connection: close`,
 * have left or are quiet.
 *
 * @returns whether that is over, and idle connections may be closed.
 */
export function handOverConnections(server: FastifyInstance): () => boolean {
  const quietAt = watchClients(server.server);
  let over = false;
  // By now the framework closes each connection after its next answer.
  server.addHook("preClose", async () => {
    // Stops listening, and unlike the HTTP server's own close it leaves every connection as it is.
    NetServer.prototype.close.call(server.server);
    const latest = performance.now() + MAX_HAND_OVER_MS;
    for (let now = performance.now(); now < latest; now = performance.now()) {
      if ([...quietAt.values()].every((at) => at <= now)) break;
      await sleep(CHECK_MS);
    }
    over = true;
  });
  return () => over;
}

/** When each client is quiet, unless it is heard before; one that sent nothing yet, or has no answer, never is. */
function watchClients(server: Server): ReadonlyMap<Socket, number> {
  const quietAt = new Map<Socket, number>();
  server.on("connection", (socket: Socket) => {
    quietAt.set(socket, Infinity);
    socket.once("close", () => quietAt.delete(socket));
  });
  server.on("request", ({ socket }, response: ServerResponse) => {
    quietAt.set(socket, Infinity);
    response.once("close", () => {
      if (!socket.destroyed) quietAt.set(socket, performance.now() + QUIET_MS);
    });
  });
  return quietAt;
}
