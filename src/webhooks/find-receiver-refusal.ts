import { parseAllowedNetworks, plainHost } from "./address-guard.ts";
import { isOwnAddress, isWebPort, noOwnAddress } from "./own-address.ts";
import { createHostResolver, findHostRefusal } from "./resolve-host.ts";
import type { Webhook } from "./webhook.ts";

/** Why nothing would be sent to a receiver. */
export interface ReceiverRefusal {
  readonly host: string;
  /** A sentence that names the address and its kind. */
  readonly reason: string;
  /** What allows it: the webhook's own `allowPrivate`, or only the exact address in `webhooks.allowNetworks`. */
  readonly remedy: "allow_private" | "list_address";
}

/** The refusal that the address guard would give, before the first delivery; null if it allows the address. */
export async function findReceiverRefusal(
  { url, allowPrivate }: Pick<Webhook["settings"], "url" | "allowPrivate">,
  allowNetworks: readonly string[],
): Promise<ReceiverRefusal | null> {
  const allowed = parseAllowedNetworks(allowNetworks);
  const { hostname, port } = new URL(url);
  const host = plainHost(hostname);
  const resolveHost = createHostResolver();
  const isOwn = isWebPort(port) ? noOwnAddress : isOwnAddress;
  const reason = await findHostRefusal(host, { allowed, allowPrivate }, resolveHost, isOwn);
  if (reason === null) return null;
  const left = await findHostRefusal(host, { allowed, allowPrivate: true }, resolveHost, isOwn);
  return { host, reason, remedy: left === null ? "allow_private" : "list_address" };
}
