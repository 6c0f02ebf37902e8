import type { FastifyReply, FastifyRequest } from "fastify";
import { FLOW_LIFETIME_MS } from "../../sessions/browser-flow.ts";

/**
 * Browsers keep a cookie with the prefix `__Host-` for one host, over https, and let no other host set it (RFC 6265bis, section
 * 4.1.3). They take none with it over plain http, so a browser on the server's own machine, which may have no https, gets other names.
 */
const NAMES = {
  session: { https: "__Host-formsvc", "this machine": "formsvc-session" },
  known: { https: "__Host-formsvc-known", "this machine": "formsvc-known" },
  flow: { https: "__Host-formsvc-flow", "this machine": "formsvc-flow" },
} as const;
/** Longest cookie that is read; ours have up to 242 characters, and that of a flow, which holds an address, 768. */
const MAX_COOKIE_LENGTH = { session: 256, known: 256, flow: 1024 } as const;
/** How long a browser is known after its last sign-in. */
const KNOWN_SECONDS = 365 * 86_400;

/** The session, what tells that the browser signed in before, or a step of signing in that it takes elsewhere. */
type CookieKind = keyof typeof NAMES;

/** Over which way the browser talks to us: it decides which cookie counts. */
export type Way = "https" | "this machine";

/** Null if there is none. */
export function readCookie(request: FastifyRequest, way: Way, kind: CookieKind): string | null {
  const name = NAMES[kind][way];
  for (const part of (request.headers.cookie ?? "").split(";")) {
    const [key = "", value = ""] = part.trim().split("=", 2);
    if (key === name && value !== "" && value.length <= MAX_COOKIE_LENGTH[kind]) return value;
  }
  return null;
}

/** @param maxAgeSeconds how long the browser keeps it. */
export function setSessionCookie(reply: FastifyReply, way: Way, value: string, maxAgeSeconds: number): void {
  setCookie(reply, way, { kind: "session", value, maxAgeSeconds });
}

/** The browser keeps it when it signs out. */
export function setKnownCookie(reply: FastifyReply, way: Way, value: string): void {
  setCookie(reply, way, { kind: "known", value, maxAgeSeconds: KNOWN_SECONDS });
}

/** Of a step that is begun, in the place of an earlier one. */
export function setFlowCookie(reply: FastifyReply, way: Way, value: string): void {
  setCookie(reply, way, { kind: "flow", value, maxAgeSeconds: FLOW_LIFETIME_MS / 1000 });
}

/** The step of a browser that came back from elsewhere, which it takes once. Null if it has begun none. */
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

/** Beside others that the answer sets. */
function setCookie(reply: FastifyReply, way: Way, { kind, value, maxAgeSeconds }: Cookie): void {
  const secure = way === "https" ? "; Secure" : "";
  const text = `${NAMES[kind][way]}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  reply.header("set-cookie", text);
}
