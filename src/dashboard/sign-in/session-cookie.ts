import type { FastifyReply, FastifyRequest } from "fastify";
import { FLOW_LIFETIME_MS } from "../../sessions/browser-flow.ts";
import { DAY_SECONDS } from "../../foundation/time-units.ts";

/**
 * Browsers keep a cookie with the prefix `__Host-` for one host, over https, and let no other host set it (RFC 6265bis, section 4.1.3).
 * They reject it over plain http. A browser on the server's own machine may have no https, so it gets other names.
 */
const NAMES = {
  session: { https: "__Host-formsvc", "this machine": "formsvc-session" },
  known: { https: "__Host-formsvc-known", "this machine": "formsvc-known" },
  flow: { https: "__Host-formsvc-flow", "this machine": "formsvc-flow" },
} as const;
/** The longest cookie that is read, in characters. Session cookies have up to 242, and that of a flow, which contains an address, 768. */
const MAX_COOKIE_LENGTH = { session: 256, known: 256, flow: 1024 } as const;
/** How long a browser counts as known after its last sign-in. */
const KNOWN_SECONDS = 365 * DAY_SECONDS;

/** The session; the proof that the browser signed in before; or a step of signing in that the browser takes on another site. */
type CookieKind = keyof typeof NAMES;

/** How the browser reaches us, which decides which cookie counts. */
export type Way = "https" | "this machine";

/** Null if there is no such cookie. */
export function readCookie(request: FastifyRequest, way: Way, kind: CookieKind): string | null {
  const name = NAMES[kind][way];
  for (const part of (request.headers.cookie ?? "").split(";")) {
    const [key = "", value = ""] = part.trim().split("=", 2);
    if (key === name && value !== "" && value.length <= MAX_COOKIE_LENGTH[kind]) return value;
  }
  return null;
}

/** @param maxAgeSeconds how long the browser keeps it */
export function setSessionCookie(reply: FastifyReply, way: Way, value: string, maxAgeSeconds: number): void {
  setCookie(reply, way, { kind: "session", value, maxAgeSeconds });
}

/** The browser keeps this cookie when it signs out. */
export function setKnownCookie(reply: FastifyReply, way: Way, value: string): void {
  setCookie(reply, way, { kind: "known", value, maxAgeSeconds: KNOWN_SECONDS });
}

/** Sets the cookie of a step that begins. It replaces the cookie of an earlier step. */
export function setFlowCookie(reply: FastifyReply, way: Way, value: string): void {
  setCookie(reply, way, { kind: "flow", value, maxAgeSeconds: FLOW_LIFETIME_MS / 1000 });
}

/** The step of a browser that came back from another site; null if it has begun none. The cookie is deleted, so it works once. */
export function takeFlowCookie(request: FastifyRequest, reply: FastifyReply, way: Way): string | null {
  const value = readCookie(request, way, "flow");
  if (value !== null) setCookie(reply, way, { kind: "flow", value: "", maxAgeSeconds: 0 });
  return value;
}

export function clearSessionCookie(reply: FastifyReply, way: Way): void {
  setCookie(reply, way, { kind: "session", value: "", maxAgeSeconds: 0 });
}

interface Cookie {
  readonly kind: CookieKind;
  readonly value: string;
  readonly maxAgeSeconds: number;
}

/** Adds a cookie to those that the answer already sets. */
function setCookie(reply: FastifyReply, way: Way, { kind, value, maxAgeSeconds }: Cookie): void {
  const secure = way === "https" ? "; Secure" : "";
  const text = `${NAMES[kind][way]}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  reply.header("set-cookie", text);
}
