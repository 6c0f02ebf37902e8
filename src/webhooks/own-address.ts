import { createSocket, type SocketType } from "node:dgram";
import { isIPv6 } from "node:net";

/** Whether a connection to this address would end at this machine itself. Never rejects. */
export type IsOwnAddress = (address: string) => Promise<boolean>;

/** Addresses that no machine has: reserved (RFC 1112), and to be discarded (RFC 6666). */
const NOBODYS = { udp4: "240.0.0.1", udp6: "100::1" } as const;

/**
 * Only an address of its own can be bound. If the system lets any be bound (`net.ipv4.ip_nonlocal_bind`), that tells nothing, and
 * the address counts as another machine's.
 */
export const isOwnAddress: IsOwnAddress = async (address) => {
  const type = isIPv6(address) ? "udp6" : "udp4";
  return (await canBind(type, address)) && !(await canBind(type, NOBODYS[type]));
};

/** On these ports a machine serves everybody, so its firewall closes nothing there. In a URL, no port is one of these. */
const WEB_PORTS: ReadonlySet<string> = new Set(["", "80", "443"]);

/** Whether a receiver behind a web server of the machine itself may be reached at this port, as anybody else reaches it. */
export function isWebPort(port: string): boolean {
  return WEB_PORTS.has(port);
}

/** For the ports of web servers. */
export const noOwnAddress: IsOwnAddress = () => Promise.resolve(false);

/** A UDP socket that sends nothing: it needs no right, and no port that somebody uses. */
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
