import { isIP } from "node:net";
import { FormsvcError } from "../foundation/errors.ts";

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface Asked {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
}

/**
 * Refuses requests that a web page may have made a browser send. They have a foreign name in `Host`, which was pointed at this machine, or
 * another site in `Origin`. A bare IP address is accepted, because nobody can point it elsewhere.
 *
 * @param baseUrl the server's own address; null if it is not configured
 * @throws forbidden
 */
export function checkHost({ host = "", origin }: Asked, baseUrl: string | null): void {
  const own = baseUrl === null ? null : new URL(baseUrl);
  const asked = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : null;
  const name = asked?.hostname ?? "";
  const isKnown = LOOPBACK_NAMES.has(name) || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
  if (!isKnown && (own === null || name !== own.hostname))
    throw new FormsvcError(
      "forbidden",
      own === null
        ? "The Host header names an address that is not known to be this server's: set server.baseUrl."
        : "The Host header names another address than server.baseUrl.",
    );
  if (origin === undefined || origin === own?.origin) return;
  const isOwnLoopback = LOOPBACK_NAMES.has(name) && origin === `http://${asked?.host ?? ""}`;
  if (!isOwnLoopback) throw new FormsvcError("forbidden", "The Origin header names another site.");
}
