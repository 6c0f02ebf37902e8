import { hash, randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";

/** The query of the address that a form on one of our pages is sent to. It has another value each time such a page is made. */
const ONCE = "once";
const TOKEN = /^[\w-]{22}$/;

/**
 * The address that a form on one of our pages is sent to: the page's own path, even if a proxy changed it, with a query of its own. What is
 * sent twice from one page can be told by it. It is never the address of the page itself: if nothing can be sent, a browser shows its own
 * page in the place of one with the same address, and its Back button would lead past the form.
 */
export function onceAddress(): string {
  return `?${ONCE}=${randomBytes(16).toString("base64url")}`;
}

/** The page that a form was sent from; undefined if it was none of ours. */
export function onceOf({ query }: FastifyRequest): string | undefined {
  const token = (query as Record<string, unknown>)[ONCE];
  return typeof token === "string" && TOKEN.test(token) ? token : undefined;
}

/** The Idempotency-Key of what was sent from one of our pages: another answer is another post. */
export function onceKey(token: string, body: Uint8Array): string {
  return `${token}.${hash("sha256", body, "base64url")}`;
}
