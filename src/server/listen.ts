import { once } from "node:events";
import { createServer, type Server } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import type { Listener } from "../foundation/hint.ts";
import { listenFailure } from "../foundation/listen-failure.ts";
import { type ListenAddress, parseListenAddress } from "../foundation/listen-address.ts";

/**
 * The number of connections that the system holds until the server accepts them. A connection beyond it waits for seconds, because its
 * packets are sent again with growing delays. Systems lower this to their own limit, Linux to net.core.somaxconn.
 */
const BACKLOG = 4096;

/**
 * Looks whether a server could listen on its addresses, before its database is made or migrated: so a start that a taken port ends changes
 * nothing. Takes none of them.
 *
 * @param fd a socket that listens already, in place of the first address; null opens one.
 * @throws the errors of {@link listen}
 */
export async function requireFreeAddresses(config: Config, fd: number | null): Promise<void> {
  const { server, dashboard, metrics } = config;
  const addresses: [ListenAddress, Listener][] = fd === null ? [[server, "server"]] : [];
  if (dashboard.enabled && dashboard.listen !== null)
    addresses.push([parseListenAddress(dashboard.listen), "dashboard"]);
  if (metrics.enabled && metrics.listen !== null)
    addresses.push([parseListenAddress(metrics.listen), "metrics"]);
  const opened: Server[] = [];
  try {
    // All are open at once, because two of them may be the same.
    for (const [address, listener] of addresses) opened.push(await openSocket(address, listener));
  } finally {
    for (const socket of opened) socket.close();
    await Promise.all(opened.map((socket) => once(socket, "close")));
  }
}

async function openSocket({ host, port }: ListenAddress, listener: Listener): Promise<Server> {
  const socket = createServer();
  try {
    await once(socket.listen({ host, port }), "listening");
    return socket;
  } catch (error) {
    throw listenFailure(error as NodeJS.ErrnoException, `${host}:${port}`, listener);
  }
}

/**
 * Listens, and returns the address with the port that the system chose.
 *
 * @param fd a socket that listens already; null opens one. @throws failed with the reason, and a hint about what to choose instead.
 */
export async function listen(
  server: FastifyInstance,
  { host, port }: ListenAddress,
  listener: Listener,
  fd: number | null = null,
): Promise<string> {
  try {
    // The framework hands these options to Node, which accepts a descriptor; the framework's type lacks it.
    await server.listen(
      fd === null ? { host, port, backlog: BACKLOG } : ({ fd, host, backlog: BACKLOG } as { host: string }),
    );
  } catch (error) {
    const where = fd === null ? `${host}:${port}` : `the passed socket ${fd}`;
    throw listenFailure(error as NodeJS.ErrnoException, where, listener);
  }
  const address = server.server.address();
  if (address === null || typeof address === "string") return `unix:${address ?? ""}`;
  return `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
}
