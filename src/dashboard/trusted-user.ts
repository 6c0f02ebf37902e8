import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Config } from "../config/config.ts";
import { canonicalAddress, compileNetworks } from "../foundation/ip-address.ts";

/**
 * The address of the account that a reverse proxy names as signed in (`dashboard.trustedUserHeader`). Null if it names nobody, or not
 * exactly one address; nobody is signed in then. Undefined if no proxy says anything; the session counts then.
 */
export type NamedUser = string | null | undefined;

/** Returns a check that is made for each request. No session is made from it. */
export function trustedUsers({ server, dashboard }: Config): (request: FastifyRequest) => NamedUser {
  const { name, secretHeader, secret } = dashboard.trustedUserHeader;
  if (name === null) return () => undefined;
  const proxies = compileNetworks(server.trustProxy);
  const isProved = (request: FastifyRequest): boolean => {
    if (secretHeader === null || secret === null) return dashboard.listen !== null;
    const [shown, ...others] = valuesOf(request, secretHeader);
    return shown !== undefined && others.length === 0 && isEqual(shown, secret);
  };
  return (request) => {
    const values = valuesOf(request, name);
    const peer = canonicalAddress(request.socket.remoteAddress ?? "");
    if (values.length === 0 || peer === null || !proxies.contains(peer) || !isProved(request))
      return undefined;
    const [value = ""] = values;
    return values.length === 1 && value.trim() !== "" ? value.trim() : null;
  };
}

/** The values of each header with this name, one by one, because Node joins them. */
function valuesOf({ raw: { rawHeaders } }: FastifyRequest, name: string): string[] {
  const sought = name.toLowerCase();
  return rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === sought,
  );
}

function isEqual(shown: string, secret: string): boolean {
  const [left, right] = [shown, secret].map((text) => hash("sha256", text, "buffer")) as [Buffer, Buffer];
  return timingSafeEqual(left, right);
}
