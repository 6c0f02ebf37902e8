import { isIP } from "node:net";
import type { Config } from "../../config/config.ts";
import type { RelyingParty } from "../../sessions/passkey-ceremony.ts";

/** Whether passkeys can be used here, and if not, a sentence that says why. */
export type PasskeySupport =
  | { readonly party: RelyingParty; readonly why: null }
  | { readonly party: null; readonly why: string };

/** Passkeys belong to a host name, which is that of `server.baseUrl`. A browser offers them only on pages of this host, and over https. */
export function passkeySupport({ server, dashboard }: Pick<Config, "server" | "dashboard">): PasskeySupport {
  const without = (why: string): PasskeySupport => ({ party: null, why });
  if (dashboard.listen !== null)
    return without(
      "The dashboard has an address of its own here, and passkeys need the host name of server.baseUrl.",
    );
  if (server.baseUrl === null)
    return without(
      "Passkeys belong to a host name, and nobody has told the server its own: server.baseUrl is not set.",
    );
  const { hostname, origin, protocol } = new URL(server.baseUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
    return without(
      `Passkeys belong to a host name, and server.baseUrl has the address ${hostname} in its place.`,
    );
  if (protocol !== "https:" && !/(?:^|\.)localhost$/.test(hostname))
    return without("Passkeys need https, and server.baseUrl begins with http.");
  return { party: { host: hostname, origin }, why: null };
}
