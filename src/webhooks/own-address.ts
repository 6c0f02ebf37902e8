import { createSocket, type SocketType } from "node:dgram";
import { isIPv6 } from "node:net";

/** Whether a connection to this address would end at this machine itself. Never rejects. */
export type IsOwnAddress = (address: string) => Promise<boolean>;

/** Addresses that no machine has: one is reserved (RFC 1112), the other is for discarded packets (RFC 6666). */
const NOBODYS = { udp4: "240.0.0.1", udp6: "100::1" } as const;

/**
 * Tries to bind the address, because a machine can bind only its own addresses. If the system allows every address
 * (`net.ipv4.ip_nonlocal_bind`), nothing can be learned, and the address counts as that of another machine.
 */
export const isOwnAddress: IsOwnAddress = async (address) => {
  const type = isIPv6(address) ? "udp6" : "udp4";
  return (await canBind(type, address)) && !(await canBind(type, NOBODYS[type]));
};

/** The ports on which a machine serves everybody, so that its firewall closes nothing there. The empty text is a URL without a port. */
const WEB_PORTS: ReadonlySet<string> = new Set(["", "80", "443"]);

/** Whether this port may be reached on the machine itself, as everybody else reaches it: a web server may stand before the receiver. */
export function isWebPort(port: string): boolean {
  return WEB_PORTS.has(port);
}

/** The check for the ports of web servers: no address counts as the machine's own. */
export const noOwnAddress: IsOwnAddress = () => Promise.resolve(false);

/** Binds a UDP socket that sends nothing: this needs no privilege, and takes no port that is in use. */
function canBind(type: SocketType, address: string): Promise<boolean> {
  const socket = createSocket(type);
  return new Promise((resolve) => {
    const end = (isBound: boolean): void => {
      socket.close();
      resolve(isBound);
    };
    socket.once("error", () => end(false));
    socket.bind({ address, port: 0, exclusive: true }, () => end(true));
  });
}
