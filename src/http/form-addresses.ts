import { isOriginAllowed, MAX_ORIGIN_LENGTH } from "../endpoints/allowed-origin.ts";
import type { VisitorProblem } from "./visitor-words.ts";
import type { EndpointSettings } from "../endpoints/endpoint.ts";

/** Longest `_redirect` that is read, and longest address that it may resolve to. */
const MAX_REDIRECT_LENGTH = 2000;

/**
 * The page that a plain form's visitor sees after success: the form's own `_redirect` if it is allowed, else the endpoint's
 * page; null is the built-in one. A `_redirect` that is not allowed is ignored, because the post is already stored.
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

/** Whether a form names a page after success that its visitor is not led to. */
export function isRedirectIgnored(
  redirect: string | null,
  origin: string | undefined,
  settings: EndpointSettings,
): boolean {
  return redirect !== null && redirect !== "" && allowedRedirect(redirect, origin, settings) === null;
}

/** The page that the visitor sees after an error: the endpoint's page, which is told what became of the form. */
export function errorAddress(errorUrl: string, error: VisitorProblem): string {
  const url = new URL(errorUrl);
  url.searchParams.set("error", error);
  return url.href;
}

/** The member by which a form names its page after success. */
export const REDIRECT_MEMBER = "_redirect";

/** The member by which our own pages, which send a form again, name the page that it came from first. */
export const FIRST_ORIGIN_MEMBER = "_origin";

/** @param host the request's Host header, used as our own origin if no base address is configured. */
export function isOwnOrigin(
  origin: string | undefined,
  baseUrl: string | null,
  host: string | undefined,
): boolean {
  if (origin === undefined) return false;
  if (baseUrl !== null) return origin === new URL(baseUrl).origin;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** The origin if it is that of a page on the web, so that it may be in a policy or a link; else null. */
export function webOrigin(text: string | undefined): string | null {
  if (text === undefined || !URL.canParse(text)) return null;
  const { protocol, origin } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && origin.length <= MAX_ORIGIN_LENGTH ? origin : null;
}

/** Allows only an origin that the endpoint lists; if it lists none, only the page's own. */
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
