import { isOriginAllowed, MAX_ORIGIN_LENGTH } from "../../endpoints/allowed-origin.ts";
import type { VisitorProblem } from "../visitors/visitor-words.ts";
import type { EndpointSettings } from "../../endpoints/endpoint.ts";

/** The longest `_redirect` that is read, and the longest address that it may resolve to, in UTF-16 units. */
const MAX_REDIRECT_LENGTH = 2000;

/**
 * The page that the visitor of a plain form sees after success: the form's own `_redirect` if it is allowed, else the endpoint's page; null
 * means the built-in one. A `_redirect` that is not allowed is ignored, because the post is already stored.
 *
 * @param origin the origin of the page that posted
 */
export function successAddress(
  redirect: string | null,
  origin: string | undefined,
  settings: EndpointSettings,
): string | null {
  return (redirect === null ? null : allowedRedirect(redirect, origin, settings)) ?? settings.successUrl;
}

/** Whether the form names a page after success that is ignored, because it is not allowed. */
export function isRedirectIgnored(
  redirect: string | null,
  origin: string | undefined,
  settings: EndpointSettings,
): boolean {
  return redirect !== null && redirect !== "" && allowedRedirect(redirect, origin, settings) === null;
}

/** The endpoint's page for errors, with the problem in its query. */
export function errorAddress(errorUrl: string, error: VisitorProblem): string {
  const url = new URL(errorUrl);
  url.searchParams.set("error", error);
  return url.href;
}

/** The form member that names the page after success. */
export const REDIRECT_MEMBER = "_redirect";

/** The form member by which our own pages, which send a form again, name the origin of the page that sent it first. */
export const FIRST_ORIGIN_MEMBER = "_origin";

/** Whether an origin is our own. @param host the request's Host header, used if no base address is configured */
export function isOwnOrigin(
  origin: string | undefined,
  baseUrl: string | null,
  host: string | undefined,
): boolean {
  if (origin === undefined) return false;
  if (baseUrl !== null) return origin === new URL(baseUrl).origin;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** The origin if it belongs to a page on the web and so may be put into a policy or a link; else null. */
export function webOrigin(text: string | undefined): string | null {
  if (text === undefined || !URL.canParse(text)) return null;
  const { protocol, origin } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && origin.length <= MAX_ORIGIN_LENGTH ? origin : null;
}

/**
 * The page that `_redirect` names if its origin is one that the endpoint lists, or the page's own if the endpoint lists none; else null.
 */
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
