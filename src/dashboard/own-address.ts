import type { FastifyRequest } from "fastify";
import type { Config } from "../config/config.ts";
import { postAddress } from "../config/dashboard-address.ts";
import { wayOf } from "./own-site.ts";
import { compileNetworks } from "../foundation/ip-address.ts";

const HOST = /^(?:[\w-]+\.)*[\w-]+(?::\d{1,5})?$|^\[[\da-f:]+\](?::\d{1,5})?$/i;

/**
 * The address that clients post to, without a slash at the end: the configured one, else the one of the request. A dashboard with an
 * address of its own accepts no posts there.
 */
export function ownAddress(request: FastifyRequest, { server, dashboard }: Config): string {
  if (server.baseUrl !== null || dashboard.listen !== null) return postAddress({ server });
  const { host = "" } = request.headers;
  const way = wayOf(request, { trustedProxies: compileNetworks(server.trustProxy) });
  const scheme = way === "https" ? "https" : "http";
  return HOST.test(host) ? `${scheme}://${host}` : `http://127.0.0.1:${server.port}`;
}
