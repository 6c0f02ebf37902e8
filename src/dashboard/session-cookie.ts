import type { FastifyReply, FastifyRequest } from "fastify";

/** Browsers keep a cookie with this prefix for one host, over https, and let no other host set it (RFC 6265bis, section 4.1.3). */
const SECURE_NAME = "__Host-formsvc";
/** For a browser on the server's own machine, which may have no https. */
const PLAIN_NAME = "formsvc-session";
/** Longest cookie that is read; ours has 80 characters. */
const MAX_COOKIE_LENGTH = 256;

/** Over which way the browser talks to us: it decides which cookie counts. */
export type Way = "https" | "this machine";

/** The session's cookie; null if there is none. */
export function readSessionCookie(request: FastifyRequest, way: Way): string | null {
  const name = nameOf(way);
  for (const part of (request.headers.cookie ?? "").split(";")) {
    const [key = "", value = ""] = part.trim().split("=", 2);
    if (key === name && value !== "" && value.length <= MAX_COOKIE_LENGTH) return value;
  }
  return null;
}

/** @param maxAgeSeconds how long the browser keeps it. */
export function setSessionCookie(reply: FastifyReply, way: Way, value: string, maxAgeSeconds: number): void {
  reply.header("set-cookie", cookie(way, value, maxAgeSeconds));
}

export function clearSessionCookie(reply: FastifyReply, way: Way): void {
  reply.header("set-cookie", cookie(way, "", 0));
}

function cookie(way: Way, value: string, maxAgeSeconds: number): string {
  const secure = way === "https" ? "; Secure" : "";
  return `${nameOf(way)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function nameOf(way: Way): string {
  return way === "https" ? SECURE_NAME : PLAIN_NAME;
}
