import { parseAllowedNetworks, plainHost } from "./address-guard.ts";
import { isOwnAddress, isWebPort, noOwnAddress } from "./own-address.ts";
import { createHostResolver, findHostRefusal, mayReachHost } from "./resolve-host.ts";
import type { Webhook } from "./webhook.ts";

/** Why nothing would be sent to the address of a receiver. */
export interface ReceiverRefusal {
  readonly host: string;
  /** A sentence that names the address and its kind. */
  readonly reason: string;
  /** What would allow it: the webhook's own `allowPrivate`, or only the exact address in `webhooks.allowNetworks`. */
  readonly remedy: "allow_private" | "list_address";
}

type Receiver = Pick<Webhook["settings"], "url" | "allowPrivate">;

/** The refusal of the address guard, found before the first delivery; null if the guard allows the address. */
export async function findReceiverRefusal(
  { url, allowPrivate }: Receiver,
  allowNetworks: readonly string[],
): Promise<ReceiverRefusal | null> {
  const allowed = parseAllowedNetworks(allowNetworks);
  const { host, isOwn } = readHost(url);
  const resolveHost = createHostResolver();
  const reason = await findHostRefusal(host, { allowed, allowPrivate }, resolveHost, isOwn);
  if (reason === null) return null;
  const left = await findHostRefusal(host, { allowed, allowPrivate: true }, resolveHost, isOwn);
  return { host, reason, remedy: left === null ? "allow_private" : "list_address" };
}

/** Whether the receiver's name exists now, and the address guard would let a delivery through. */
export function isReceiverReachable(
  { url, allowPrivate }: Receiver,
  allowNetworks: readonly string[],
): Promise<boolean> {
  const { host, isOwn } = readHost(url);
  const policy = { allowed: parseAllowedNetworks(allowNetworks), allowPrivate };
  return mayReachHost(host, policy, createHostResolver(), isOwn);
}

function readHost(url: string) {
  const { hostname, port } = new URL(url);
  return { host: plainHost(hostname), isOwn: isWebPort(port) ? noOwnAddress : isOwnAddress };
}
