import { isListenAddress, parseListenAddress } from "./listen-address.ts";

/** The address of a clamd: a socket in the file system, or a host with a port. */
export type ClamdAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** The longest path that a socket may have on Linux and macOS, in bytes. */
const MAX_PATH_BYTES = 103;

/** Whether {@link parseClamdAddress} takes the text. */
export function isClamdAddress(text: string): boolean {
  return readClamdAddress(text) !== null;
}

/** @param text `tcp://127.0.0.1:3310` or `unix:/run/clamav/clamd.ctl`. @throws Error on anything else; check with {@link isClamdAddress} first */
export function parseClamdAddress(text: string): ClamdAddress {
  const address = readClamdAddress(text);
  if (address === null) throw new Error(`not the address of a clamd: ${text}`);
  return address;
}

function readClamdAddress(text: string): ClamdAddress | null {
  const [, path] = /^unix:(\/[^\0]+)$/.exec(text) ?? [];
  if (path !== undefined) return Buffer.byteLength(path) <= MAX_PATH_BYTES ? { path } : null;
  const [, address = ""] = /^tcp:\/\/([^/]+)$/.exec(text) ?? [];
  if (!isListenAddress(address)) return null;
  const { host, port } = parseListenAddress(address);
  return port === 0 ? null : { host, port };
}
