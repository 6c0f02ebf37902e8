import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { canonicalAddress, type NetworkList } from "../foundation/ip-address.ts";

/** The address that is counted and stored for the client of a Unix socket, which has none. */
const NO_ADDRESS = "127.0.0.1";
/** The largest number of entries of `X-Forwarded-For` that are read, from the right. A chain of real proxies is far shorter. */
const MAX_HOPS = 32;

/** The proxies whose `X-Forwarded-For` is believed, and a callback for other senders of that header. */
export interface ProxyTrust {
  readonly trustedProxies: NetworkList;
  /** Called with the canonical address of a socket that sent the header and is not a trusted proxy. */
  readonly onUntrustedProxy: (peer: string) => void;
}

/**
 * The canonical address of the client. It is the socket's address, or behind trusted proxies the rightmost address of `X-Forwarded-For`
 * that is not itself a trusted proxy. The client wrote the entries further left, so they are never believed. An unreadable entry ends the
 * search at the last certain address.
 */
export function clientAddress(
  request: IncomingMessage,
  { trustedProxies, onUntrustedProxy }: ProxyTrust,
): string {
  const peer = socketAddress(request.socket);
  const header = request.headers["x-forwarded-for"];
  if (header === undefined) return peer;
  if (!trustedProxies.contains(peer)) {
    onUntrustedProxy(peer);
    return peer;
  }
  const hops = String(header).split(",").slice(-MAX_HOPS);
  let certain = peer;
  for (const hop of hops.reverse()) {
    const address = readHop(hop.trim());
    if (address === null) return certain;
    if (!trustedProxies.contains(address)) return address;
    certain = address;
  }
  return certain;
}

/** The addresses of open connections. A connection keeps its address and carries many requests. */
const addresses = new WeakMap<Socket, string>();

/** The canonical address of the other end of a socket. */
export function socketAddress(socket: Socket): string {
  let address = addresses.get(socket);
  if (address === undefined) {
    address = canonicalAddress(socket.remoteAddress ?? "") ?? NO_ADDRESS;
    addresses.set(socket, address);
  }
  return address;
}

/** Reads one entry of the header. Some proxies write a port after the address: `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function readHop(hop: string): string | null {
  const bracketed = /^\[([^\]]{2,64})\](?::\d{1,5})?$/.exec(hop)?.[1];
  const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(hop)?.[1];
  return canonicalAddress(bracketed ?? withPort ?? hop);
}
