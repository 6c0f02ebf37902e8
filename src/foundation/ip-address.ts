import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [base: Address, bits: number];

/** A set of addresses and networks, compiled once. */
export interface NetworkList {
  /** False for text that is not an address. */
  contains(address: string): boolean;
}

/** The longest text that can be an address, zone included; longer text is refused unread. */
const MAX_ADDRESS_LENGTH = 64;

/**
 * The one spelling of an address that is stored and compared: IPv4 in dotted decimal, even if it came mapped into IPv6,
 * and IPv6 as RFC 5952 writes it, without a zone. Null if the text is not an address; octal, hexadecimal and shortened
 * IPv4 spellings are not accepted.
 */
export function canonicalAddress(text: string): string | null {
  const address = parseAddress(text);
  if (address === null) return null;
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

/**
 * The unit that a limit by address counts: an IPv4 address, or an IPv6 /64, which is what one customer is given. Text that is not an
 * address is its own unit.
 */
export function addressUnit(canonical: string): string {
  if (!canonical.includes(":")) return canonical;
  const address = parseAddress(canonical);
  if (!(address instanceof ipaddr.IPv6)) return canonical;
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/** The first address of an address's network: a /24 for IPv4 and a /48 for IPv6, which is what one site has. */
export function shortenAddress(canonical: string): string {
  const address = parseAddress(canonical);
  if (address === null) return "";
  if (address instanceof ipaddr.IPv6) {
    return new ipaddr.IPv6([...address.parts.slice(0, 3), 0, 0, 0, 0, 0]).toRFC5952String();
  }
  return new ipaddr.IPv4([...address.octets.slice(0, 3), 0]).toString();
}

/** Whether the text is an address or a CIDR block that {@link compileNetworks} takes. */
export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== null;
}

/** @throws Error on an entry that is not an address or CIDR; check with {@link isNetwork} first. */
export function compileNetworks(entries: readonly string[]): NetworkList {
  const networks = entries.map((entry) => {
    const network = parseNetwork(entry);
    if (network === null) throw new Error(`not an address or CIDR: ${entry}`);
    return network;
  });
  return listOf(networks);
}

function listOf(networks: readonly Network[]): NetworkList {
  return {
    contains(text) {
      if (networks.length === 0) return false;
      const address = parseAddress(text);
      return address !== null && networks.some((network) => isWithin(address, network));
    },
  };
}

/** Networks that stand in the code. Node's check of an IPv6 address is not asked for them: its pattern takes each start 8 ms to compile. */
function knownNetworks(...blocks: readonly string[]): NetworkList {
  return listOf(blocks.map((block) => ipaddr.parseCIDR(block)));
}

const LOOPBACK = knownNetworks("127.0.0.0/8", "::1/128");

/** Whether an address belongs to this machine itself; false for text that is not an address. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.contains(address);
}

/** Whether a host is this machine itself: `localhost` or a loopback address. Any other name may lead anywhere. */
export function isThisMachine(host: string): boolean {
  return host.toLowerCase() === "localhost" || isLoopback(host);
}

const PRIVATE = knownNetworks(
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "::1/128",
  "fc00::/7",
  "fe80::/10",
);

/**
 * Whether the operator's own proxy may have this address. True for the addresses of this machine and of private networks, virtual ones
 * included (RFC 1918, 3927, 4193, 4291, 6598); false for text that is not an address.
 */
export function isPrivate(address: string): boolean {
  return PRIVATE.contains(address);
}

function isWithin(address: Address, [base, bits]: Network): boolean {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
}

function parseNetwork(text: string): Network | null {
  const slash = text.indexOf("/");
  if (slash === -1) {
    const address = parseAddress(text);
    return address === null ? null : [address, address instanceof ipaddr.IPv4 ? 32 : 128];
  }
  const bitsText = text.slice(slash + 1);
  const base = parseAddress(text.slice(0, slash));
  if (base === null || !/^\d{1,3}$/.test(bitsText)) return null;
  // The prefix of ::ffff:10.0.0.0/104 counts over 128 bits; the mapped IPv4 address has 32.
  const mapped = base instanceof ipaddr.IPv4 && text.includes(":");
  const bits = Number(bitsText) - (mapped ? 96 : 0);
  return bits >= 0 && bits <= (base instanceof ipaddr.IPv4 ? 32 : 128) ? [base, bits] : null;
}

/** Node's own checks decide what is an address: ipaddr.js also accepts octal and hexadecimal parts within IPv6. */
function parseAddress(text: string): Address | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null;
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (!isIPv6(text)) return null;
  const address = ipaddr.IPv6.parse(dotsToHex(text.split("%")[0] ?? ""));
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * Rewrites `::1.2.3.4` as `::102:304`, because ipaddr.js would read it as the mapped address `::ffff:1.2.3.4`, which is a different one.
 */
function dotsToHex(text: string): string {
  const start = text.lastIndexOf(":") + 1;
  if (!text.includes(".", start)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = text.slice(start).split(".").map(Number);
  return `${text.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
