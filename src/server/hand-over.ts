import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/** The longest time that a restart waits for clients that will probably send more. */
const MAX_HAND_OVER_MS = 1000;
/** A client that was answered, and then sent nothing for this time, will not send another request soon. */
const QUIET_MS = 250;
const CHECK_MS = 50;

/**
 * Hands the clients of a stopping server over to the next one, which has the same listening socket, without losing requests. Closing a
 * connection that looks idle would lose a request that is on its way. So the server accepts no new connections (they wait at the socket),
 * sends `Connection: close` on the open ones, and answers until their clients have left or are quiet.
 *
 * @returns a function that tells whether this is finished, so that idle connections may be closed.
 */
export function handOverConnections(server: FastifyInstance): () => boolean {
  const quietAt = watchClients(server.server);
  let over = false;
  // From now on the framework closes each connection after its next answer.
  server.addHook("preClose", async () => {
    // Stops listening. Unlike the HTTP server's own close, it leaves every connection open.
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

/** When each client counts as quiet if it sends nothing until then; never while it has not sent a request or waits for an answer. */
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
