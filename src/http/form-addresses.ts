import { isOriginAllowed, MAX_ORIGIN_LENGTH } from "../endpoints/allowed-origin.ts";
import type { EndpointSettings } from "../endpoints/endpoint.ts";

/** Longest `_redirect` that is looked at, and longest address that it may come to. */
const MAX_REDIRECT_LENGTH = 2000;

/**
 * Where a plain form's visitor goes after success: the form's own `_redirect` where it may go there, else the endpoint's
 * page; null is the built-in one. A `_redirect` that may not be followed is ignored, because the post is stored by then.
 *
 * @param origin of the page that posted.
 */
export function successAddress(
  redirect: string | null,
  origin: string | undefined,
  settings: EndpointSettings,
): string | null {
  return (redirect === null ? null : allowedRedirect(redirect, origin, settings)) ?? settings.successUrl;
}

/** Where the visitor goes after an error: the endpoint's page with the status' `error`. */
export function errorAddress(errorUrl: string, error: string): string {
  const url = new URL(errorUrl);
  url.searchParams.set("error", error);
  return url.href;
}

/** Where the form itself wants its visitor to go after success. */
export const REDIRECT_MEMBER = "_redirect";

/** Our own pages send a form again on behalf of the page that it came from first; this member says which. */
export const FIRST_ORIGIN_MEMBER = "_origin";

/** @param host the request's Host header, which stands for our own origin where no base address is configured. */
export function isOwnOrigin(
  origin: string | undefined,
  baseUrl: string | null,
  host: string | undefined,
): boolean {
  if (origin === undefined) return false;
  if (baseUrl !== null) return origin === new URL(baseUrl).origin;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** The origin when it is one of a page on the web, as it may stand in a policy or a link; else null. */
export function webOrigin(text: string | undefined): string | null {
  if (text === undefined || !URL.canParse(text)) return null;
  const { protocol, origin } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && origin.length <= MAX_ORIGIN_LENGTH ? origin : null;
}

/** Only to an origin that the endpoint lists; where it lists none, only to the page's own. */
function allowedRedirect(
  redirect: string,
  origin: string | undefined,
  { allowedOrigins }: EndpointSettings,
): string | null {
  const base = webOrigin(origin) ?? undefined;
  if (redirect.length > MAX_REDIRECT_LENGTH || !URL.canParse(redirect, base)) return null;
  const target = new URL(redirect, base);
  if (target.href.length > MAX_REDIRECT_LENGTH || webOrigin(target.href) === null) return null;
  const isAllowed =
    allowedOrigins.length === 0 ? target.origin === origin : isOriginAllowed(target.origin, allowedOrigins);
  return isAllowed ? target.href : null;
}
