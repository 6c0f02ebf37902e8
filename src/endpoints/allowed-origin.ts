import { FormsvcError } from "../foundation/errors.ts";

/** The largest number of origins that one endpoint may list. */
export const MAX_ALLOWED_ORIGINS = 100;
/** The longest origin, in UTF-16 units. A scheme, a host of 253 characters and a port have some 270. */
export const MAX_ORIGIN_LENGTH = 300;
const WILDCARD = "*.";

/**
 * Checks and normalises an origin as browsers send it: scheme, host, and port if it is not the scheme's default, in lower case. The host
 * may begin with `*.`, which stands for any sub-domain but not for the domain itself. `null` is what sandboxed frames and local files send;
 * it is allowed only if it is listed.
 *
 * @throws usage if the text is not an origin; the message shows the right form
 */
export function checkOrigin(text: string): string {
  if (text === "null") return text;
  if (text === "*")
    throw new FormsvcError(
      "usage",
      "* allows every origin; give it alone, or leave it out and list the origins",
    );
  if (text.trim() === "")
    throw new FormsvcError(
      "usage",
      "an empty text is no origin; write it like https://example.com, or * alone, which allows every origin",
    );
  const refused = (why: string): FormsvcError =>
    new FormsvcError(
      "usage",
      `not an origin: ${JSON.stringify(text)} (${why}); write it like https://example.com or https://*.example.com`,
    );
  if (text.length > MAX_ORIGIN_LENGTH) throw refused("too long");
  const wildcard = text.includes(`//${WILDCARD}`);
  const plain = wildcard ? text.replace(`//${WILDCARD}`, "//") : text;
  if (!URL.canParse(plain)) throw refused("no scheme or host");
  const url = new URL(plain);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refused("neither http nor https");
  if (
    url.pathname !== "/" ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== "" ||
    url.password !== ""
  ) {
    throw refused("more than scheme, host and port");
  }
  if (url.hostname.includes("*")) throw refused("a * may only stand first");
  return wildcard ? url.origin.replace("//", `//${WILDCARD}`) : url.origin;
}

/** Whether an owner may be offered to allow an origin. `null` may not be offered, because any page can send it. */
export function isAllowable(origin: string): boolean {
  if (origin === "null" || origin.includes("*")) return false;
  try {
    return checkOrigin(origin) === origin;
  } catch {
    return false;
  }
}

/** Whether a browser at `origin` may post. @param allowed origins that {@link checkOrigin} returned; an empty list allows every origin */
export function isOriginAllowed(origin: string, allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((entry) => matches(origin, entry));
}

function matches(origin: string, entry: string): boolean {
  if (!entry.includes(`//${WILDCARD}`)) return origin === entry;
  if (origin.length > MAX_ORIGIN_LENGTH) return false;
  const star = entry.indexOf(WILDCARD);
  const prefix = entry.slice(0, star);
  const suffix = entry.slice(star + 1);
  if (!origin.startsWith(prefix) || !origin.endsWith(suffix)) return false;
  const label = origin.slice(prefix.length, origin.length - suffix.length);
  return label.length > 0 && !label.includes("/") && !label.includes("@");
}
