import { type ListenAddress, parseListenAddress } from "../foundation/listen-address.ts";
import { isThisMachine } from "../foundation/ip-address.ts";
import type { Config } from "./config.ts";

/** Addresses that stand for every address of the machine, with the one that a browser on the machine uses. */
const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/**
 * The address at which a browser finds the dashboard, without a slash at the end: that of its own port if it has one, else the address that
 * clients use, else the one that the server listens on.
 */
export function dashboardAddress({ server, dashboard }: Pick<Config, "server" | "dashboard">): string {
  if (dashboard.listen !== null) return httpAddress(parseListenAddress(dashboard.listen));
  return postAddress({ server });
}

/** The address that clients post to, without a slash at the end, as far as the configuration says it. */
export function postAddress({ server }: Pick<Config, "server">): string {
  return server.baseUrl ?? httpAddress(server);
}

function httpAddress({ host, port }: ListenAddress): string {
  const reachable = WILDCARDS[host] ?? host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** The two addresses to which the issuer of `oidc` sends people back: after signing in, and after signing out. */
export function oidcReturnAddresses(baseUrl: string): {
  readonly signedIn: string;
  readonly signedOut: string;
} {
  const signIn = `${baseUrl}/dashboard/sign-in`;
  return { signedIn: `${signIn}/oidc/callback`, signedOut: signIn };
}

/** Whether nobody can read on the way what is sent to an address: it is https, or on this machine. */
export function isSafeAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || isThisMachine(hostname.replace(/^\[(.*)\]$/, "$1"));
}
