import type { FastifyInstance } from "fastify";
import type { Listener } from "../foundation/hint.ts";
import { listenFailure } from "../foundation/listen-failure.ts";
import type { ListenAddress } from "../foundation/listen-address.ts";

/**
 * The number of connections that the system holds until the server accepts them. A connection beyond it waits for seconds, because its
 * packets are sent again with growing delays. Systems lower this to their own limit, Linux to net.core.somaxconn.
 */
const BACKLOG = 4096;

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
