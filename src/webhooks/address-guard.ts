import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { IsOwnAddress } from "./own-address.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/**
 * Networks that a webhook reaches only with permission: the special-purpose registries of IANA (RFC 6890 and its updates). Of IPv6, only
 * 2000::/3 is public, so everything outside it counts as reserved.
 */
const PRIVATE_NETWORKS = label([
  ["unspecified", "0.0.0.0/8"],
  ["private", "10.0.0.0/8"],
  ["carrier-grade NAT", "100.64.0.0/10"],
  ["loopback", "127.0.0.0/8"],
  ["private", "172.16.0.0/12"],
  ["reserved", "192.0.0.0/24"],
  ["documentation", "192.0.2.0/24"],
  ["reserved", "192.88.99.0/24"],
  ["private", "192.168.0.0/16"],
  ["benchmarking", "198.18.0.0/15"],
  ["documentation", "198.51.100.0/24"],
  ["documentation", "203.0.113.0/24"],
  ["multicast", "224.0.0.0/4"],
  ["reserved", "240.0.0.0/4"],
  ["unspecified", "::/128"],
  ["loopback", "::1/128"],
  ["private", "fc00::/7"],
  ["multicast", "ff00::/8"],
  ["reserved", "2001::/23"],
  ["documentation", "2001:db8::/32"],
  ["6to4", "2002::/16"],
  ["documentation", "3fff::/20"],
]);

/**
 * Addresses that give credentials to any program inside a cloud machine, and the link-local networks that contain most of them. Neither a
 * webhook's own permission nor a wide network allows these; only the exact address in `webhooks.allowNetworks` does.
 */
const METADATA_NETWORKS = label([
  ["link-local", "169.254.0.0/16"],
  ["link-local", "fe80::/10"],
  ["cloud metadata", "100.100.100.200/32"],
  ["cloud metadata", "168.63.129.16/32"],
  ["cloud metadata", "192.0.0.192/32"],
  ["cloud metadata", "fd00:ec2::254/128"],
  ["cloud metadata", "fd20:ce::254/128"],
]);

/** `::` and `::1`, which are in the range of v4-compatible addresses but contain none. */
const V6_ITSELF: Network = ipaddr.parseCIDR("::/127");
const PUBLIC_V6: Network = ipaddr.parseCIDR("2000::/3");

/** IPv6 networks whose addresses contain the IPv4 address that the packet finally goes to, with the position of its first byte. */
const EMBEDDED_V4 = [
  { network: ipaddr.parseCIDR("::ffff:0:0/96"), at: 12 },
  { network: ipaddr.parseCIDR("::/96"), at: 12 },
  { network: ipaddr.parseCIDR("64:ff9b::/96"), at: 12 },
  { network: ipaddr.parseCIDR("2002::/16"), at: 2 },
];

/** Addresses that may be reached although they are not public: `webhooks.allowNetworks`, read once. */
export interface AllowedNetworks {
  readonly networks: readonly Network[];
  /** Lower-case host names without a final dot. */
  readonly names: ReadonlySet<string>;
}

export interface GuardPolicy {
  readonly allowed: AllowedNetworks;
  /** Whether the webhook was created with `--allow-private`. */
  readonly allowPrivate: boolean;
}

/** Reads `webhooks.allowNetworks`: CIDRs, addresses, and host names. */
export function parseAllowedNetworks(entries: readonly string[]): AllowedNetworks {
  const networks: Network[] = [];
  const names = new Set<string>();
  for (const entry of entries) {
    if (ipaddr.isValidCIDR(entry)) networks.push(ipaddr.parseCIDR(entry));
    else if (isIP(entry) !== 0) networks.push(wholeAddress(unwrap(ipaddr.parse(entry))));
    else names.add(plainHost(entry));
  }
  return { networks, names };
}

/**
 * Why no connection to an address is allowed, as a word such as `loopback`; null if it is allowed. `host` is the name that was looked up,
 * or the address itself. An address that cannot be read is refused.
 */
export function findAddressRefusal(address: string, host: string, policy: GuardPolicy): string | null {
  if (isIP(address) === 0) return "unreadable";
  const target = unwrap(ipaddr.parse(address));
  const { networks } = policy.allowed;
  if (networks.some((network) => isExact(network) && contains(network, target))) return null;
  const metadata = findName(METADATA_NETWORKS, target);
  if (metadata !== null) return metadata;
  const refusal = findPrivateName(target);
  return refusal === null || isAllowed(target, host, policy) ? null : refusal;
}

/**
 * Like {@link findAddressRefusal}, but also `same-machine` for a public address of this machine: a connection to it passes no firewall, so
 * it would reach ports that are closed to everybody else.
 */
export async function findRefusal(
  address: string,
  host: string,
  policy: GuardPolicy,
  isOwn: IsOwnAddress,
): Promise<string | null> {
  const refusal = findAddressRefusal(address, host, policy);
  if (refusal !== null || isAllowed(unwrap(ipaddr.parse(address)), host, policy)) return refusal;
  return (await isOwn(address)) ? "same-machine" : null;
}

/** Whether the webhook, or `webhooks.allowNetworks`, allows an address that is not public. */
function isAllowed(target: Address, host: string, { allowPrivate, allowed }: GuardPolicy): boolean {
  const { networks, names } = allowed;
  return allowPrivate || names.has(plainHost(host)) || networks.some((network) => contains(network, target));
}

/** Whether `webhooks.allowNetworks` contains this host, or the address if the host is one. Asks no name server. */
export function isListed(host: string, allowNetworks: readonly string[]): boolean {
  const { networks, names } = parseAllowedNetworks(allowNetworks);
  const plain = plainHost(host);
  if (isIP(plain) === 0) return names.has(plain);
  const address = unwrap(ipaddr.parse(plain));
  return names.has(plain) || networks.some((network) => contains(network, address));
}

/** A host as URLs spell it, in lower case, without the brackets of an IPv6 literal and without the final dot of a name. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

function findPrivateName(target: Address): string | null {
  const name = findName(PRIVATE_NETWORKS, target);
  if (name !== null) return name;
  return target.kind() === "ipv6" && !contains(PUBLIC_V6, target) ? "reserved" : null;
}

function unwrap(address: Address): Address {
  const carrier = EMBEDDED_V4.find(({ network }) => contains(network, address));
  if (!carrier || contains(V6_ITSELF, address)) return address;
  const embedded = ipaddr.fromByteArray(address.toByteArray().slice(carrier.at, carrier.at + 4));
  const isSpecial = findName(METADATA_NETWORKS, embedded) ?? findPrivateName(embedded);
  // A public address inside 6to4 would need relays that nobody runs any more, so the outer IPv6 address decides.
  return carrier.at === 2 && isSpecial === null ? address : embedded;
}

function findName(rows: readonly { name: string; network: Network }[], address: Address): string | null {
  return rows.find(({ network }) => contains(network, address))?.name ?? null;
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

function isExact([network, bits]: Network): boolean {
  return bits === network.toByteArray().length * 8;
}

function wholeAddress(address: Address): Network {
  return [address, address.toByteArray().length * 8];
}

function label(
  rows: readonly (readonly [name: string, cidr: string])[],
): { name: string; network: Network }[] {
  return rows.map(([name, cidr]) => ({ name, network: ipaddr.parseCIDR(cidr) }));
}
