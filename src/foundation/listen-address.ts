import { isIPv4, isIPv6 } from "node:net";

/** The address and port on which a server listens. */
export interface ListenAddress {
  /** An IP address of this machine without brackets, or a host name of it. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

const HOST_AND_PORT = /^(?:\[([\d.:a-f]{2,45})\]|([\da-z](?:[\d.a-z-]{0,251}[\da-z])?)):(\d{1,5})$/i;

/** Whether {@link parseListenAddress} takes the text. */
export function isListenAddress(text: string): boolean {
  return readListenAddress(text) !== null;
}

/** @param text `127.0.0.1:8788`, `[::1]:8788` or `localhost:8788`. @throws Error on anything else; check with {@link isListenAddress} first. */
export function parseListenAddress(text: string): ListenAddress {
  const address = readListenAddress(text);
  if (address === null) throw new Error(`not an address with a port: ${text}`);
  return address;
}

function readListenAddress(text: string): ListenAddress | null {
  const [, bracketed, plain = "", digits] = HOST_AND_PORT.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) return null;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : null;
  // Text of digits and dots is meant as an address, but some systems read a short form as a different address.
  return isIPv4(plain) || !/^[\d.]+$/.test(plain) ? { host: plain, port } : null;
}
