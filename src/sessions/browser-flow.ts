import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/*
 * A step of signing in that a browser takes elsewhere, like at an issuer, and comes back from. The browser alone keeps it, in a cookie that
 * it can neither make nor change; the database has nothing of it, so that nobody can fill it. What the step must be answered with follows
 * from the cookie and the key of this installation.
 */

/** A step that was begun. */
export interface Flow {
  /** For the browser. */
  readonly cookie: string;
  /** The page of ours that it goes to afterwards. */
  readonly next: string;
  /** Time from which it can no longer be finished. */
  readonly expiresAt: number;
  /** A value that nobody else can know, one for each name: 43 characters of base64url. */
  readonly secretOf: (name: string) => string;
}

/** How long a step can be finished. */
export const FLOW_LIFETIME_MS = 600_000;
const ID_BYTES = 16;
/** A longer address is forgotten. */
const MAX_NEXT_LENGTH = 500;
const COOKIE = /^([\w-]{22}\.\d{1,16}\.[\w-]{0,700})\.([\w-]{43})$/;

/** @param purpose what the step is for: one that was begun for something else cannot be finished as this. @param next a page of ours */
export function beginFlow(key: Buffer, purpose: string, next: string, now: number): Flow {
  const kept = next.length <= MAX_NEXT_LENGTH ? next : "";
  const id = randomBytes(ID_BYTES).toString("base64url");
  return flowOf(key, purpose, `${id}.${now + FLOW_LIFETIME_MS}.${Buffer.from(kept).toString("base64url")}`);
}

/** Null if the cookie is none of a step of this purpose, or too old. */
export function readFlow(key: Buffer, purpose: string, cookie: string | null, now: number): Flow | null {
  const [, content, proof] = COOKIE.exec(cookie ?? "") ?? [];
  if (content === undefined || proof === undefined) return null;
  const flow = flowOf(key, purpose, content);
  const isOurs = timingSafeEqual(Buffer.from(cookie ?? ""), Buffer.from(flow.cookie));
  return isOurs && now < flow.expiresAt ? flow : null;
}

function flowOf(key: Buffer, purpose: string, content: string): Flow {
  const secretOf = (name: string): string =>
    createHmac("sha256", key)
      .update(JSON.stringify(["flow", purpose, name, content]))
      .digest("base64url");
  const [, expiresAt, page = ""] = content.split(".");
  const next = Buffer.from(page, "base64url").toString();
  return { cookie: `${content}.${secretOf("cookie")}`, next, expiresAt: Number(expiresAt), secretOf };
}
