import type { FastifyRequest } from "fastify";
import type { Config } from "../config/config.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { canonicalAddress, compileNetworks, type NetworkList } from "../foundation/ip-address.ts";
import type { Way } from "./sign-in/session-cookie.ts";

/** What tells a request of our own pages from one of another site. */
export interface OwnSite {
  /** Of the dashboard's pages; null if only the request's `Host` is known. */
  readonly origin: string | null;
  readonly trustedProxies: NetworkList;
}

/** A dashboard with an address of its own is not at `server.baseUrl`, and no setting tells how people reach it. */
export function ownSiteOf({ server, dashboard }: Config): OwnSite {
  const baseUrl = dashboard.listen === null ? server.baseUrl : null;
  return {
    origin: baseUrl && new URL(baseUrl).origin,
    trustedProxies: compileNetworks(server.trustProxy),
  };
}

const LOOPBACK = compileNetworks(["127.0.0.0/8", "::1"]);

/** Null if the request came over plain http from another machine, so that a password would be readable on the way. */
export function wayOf(
  request: FastifyRequest,
  { trustedProxies }: Pick<OwnSite, "trustedProxies">,
): Way | null {
  const peer = canonicalAddress(request.socket.remoteAddress ?? "") ?? "127.0.0.1";
  const proto = String(request.headers["x-forwarded-proto"] ?? "")
    .split(",")
    .at(-1);
  if (proto?.trim().toLowerCase() === "https" && trustedProxies.contains(peer)) return "https";
  const { origin, host = "" } = request.headers;
  // A proxy on this machine may hide the host's name; a browser on another machine then still tells its page's origin.
  const isHere = LOOPBACK.contains(peer) && isLoopbackHost(host) && !isForwarded(request);
  return isHere && (origin === undefined || isLoopbackHost(hostOf(origin))) ? "this machine" : null;
}

/** Why nobody can sign in over this way, and what to do. */
export const PLAIN_HTTP =
  "The dashboard needs https, because a password over plain http can be read on the way. Put a reverse proxy with https in " +
  "front of formsvc, set server.trustProxy to the proxy’s address, and let it send X-Forwarded-Proto.";

/**
 * Refuses a write that another site's page asks for: browsers say from what site a request comes (`Sec-Fetch-Site`), and old
 * ones at least from what origin. Whoever says neither is refused.
 *
 * @throws forbidden
 */
export function refuseOtherSites(request: FastifyRequest, site: OwnSite): void {
  const fetchSite = request.headers["sec-fetch-site"];
  if (fetchSite === undefined ? isOwnOrigin(request, site) : fetchSite === "same-origin") return;
  throw new FormsvcError(
    "forbidden",
    "This request did not come from the dashboard’s own pages, so nothing was changed. Open the page again and repeat it.",
  );
}

/** Without a configured address, our own origin is the one that was asked for, with its scheme. */
function isOwnOrigin(request: FastifyRequest, site: OwnSite): boolean {
  const { origin, host = "" } = request.headers;
  const asked = `${wayOf(request, site) === "https" ? "https" : "http"}://${host}`;
  return origin !== undefined && origin === (site.origin ?? originOf(asked));
}

function originOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).origin : null;
}

function isForwarded({ headers }: FastifyRequest): boolean {
  return headers["x-forwarded-for"] !== undefined || headers["forwarded"] !== undefined;
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : "";
}

/** `localhost`, `127.0.0.1:8787` or `[::1]:8787`. */
function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d{1,5}$/, "").replace(/^\[(.*)\]$/, "$1");
  const address = canonicalAddress(name);
  return name === "localhost" || (address !== null && LOOPBACK.contains(address));
}
