import type { FastifyInstance } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import type { ListenAddress } from "../foundation/listen-address.ts";

/**
 * Connections that the system holds until they are taken. A connection that finds no room waits for seconds, because its
 * packets are sent again with growing delays. Systems cut this to their own limit, Linux to net.core.somaxconn.
 */
const BACKLOG = 4096;

/** The flag or setting by which the address is chosen. */
export interface ListenerSettings {
  readonly host: string;
  readonly port: string;
}

/**
 * Listens, and returns the address with the port that the system gave.
 *
 * @param fd a socket that listens already; null makes one. @throws failed with the reason, and what to choose instead.
 */
export async function listen(
  server: FastifyInstance,
  { host, port }: ListenAddress,
  settings: ListenerSettings,
  fd: number | null = null,
): Promise<string> {
  try {
    // The framework passes this on to Node, which takes a descriptor; the framework's type lacks it.
    await server.listen(
      fd === null ? { host, port, backlog: BACKLOG } : ({ fd, host, backlog: BACKLOG } as { host: string }),
    );
  } catch (error) {
    const where = fd === null ? `${host}:${port}` : `the passed socket ${fd}`;
    throw new FormsvcError("failed", `${where}: ${whyNot(error as NodeJS.ErrnoException, settings)}`, {
      cause: error,
    });
  }
  const address = server.server.address();
  if (address === null || typeof address === "string") return `unix:${address ?? ""}`;
  return `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
}

function whyNot({ code = "", message }: NodeJS.ErrnoException, { host, port }: ListenerSettings): string {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `the port is taken; stop what listens there, or choose another with ${port}`,
    EACCES: `this user may not listen there; choose a port from 1024 on with ${port}`,
    ENOTFOUND: `there is no such name; give an address of this machine with ${host}`,
    EADDRNOTAVAIL: `this machine does not have that address; choose another with ${host}`,
  };
  return reasons[code] ?? message;
}
