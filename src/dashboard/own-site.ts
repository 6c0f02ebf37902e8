import type { FastifyRequest } from "fastify";
import type { Config } from "../config/config.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { canonicalAddress, compileNetworks, type NetworkList } from "../foundation/ip-address.ts";
import type { Way } from "./sign-in/session-cookie.ts";

/** What distinguishes a request of our own pages from one of another site. */
export interface OwnSite {
  /** The origin of the dashboard's pages; null if only the request's `Host` is known. */
  readonly origin: string | null;
  readonly trustedProxies: NetworkList;
}

/** If the dashboard has an address of its own, it is not at `server.baseUrl`, and no setting says how people reach it. */
export function ownSiteOf({ server, dashboard }: Config): OwnSite {
  const baseUrl = dashboard.listen === null ? server.baseUrl : null;
  return {
    origin: baseUrl && new URL(baseUrl).origin,
    trustedProxies: compileNetworks(server.trustProxy),
  };
}

const LOOPBACK = compileNetworks(["127.0.0.0/8", "::1"]);

/** The way that the request came; null if it came over plain http from another machine, where a password could be read. */
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
  // A proxy on this machine may hide the host name, but a browser on another machine still sends its page's origin.
  const isHere = LOOPBACK.contains(peer) && isLoopbackHost(host) && !isForwarded(request);
  return isHere && (origin === undefined || isLoopbackHost(hostOf(origin))) ? "this machine" : null;
}

/** Why nobody can sign in over plain http, and what to do. */
export const PLAIN_HTTP =
  "The dashboard needs https, because a password over plain http can be read on the way. Put a reverse proxy with https in " +
  "front of formsvc, set server.trustProxy to the proxy’s address, and let it send X-Forwarded-Proto.";

/**
 * Refuses a write that a page of another site sends. Browsers say which site a request comes from (`Sec-Fetch-Site`), and old ones at least
 * which origin. A client that sends neither is refused.
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

/** Whether the origin is our own. If no address is configured, that is the request's host with its scheme. */
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

/** Whether a host is `localhost`, `127.0.0.1:8787`, `[::1]:8787` or the like. */
function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d{1,5}$/, "").replace(/^\[(.*)\]$/, "$1");
  const address = canonicalAddress(name);
  return name === "localhost" || (address !== null && LOOPBACK.contains(address));
}
