import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/*
 * A step of signing in for which the browser leaves our page, for example to go to an issuer, and comes back. Only the browser keeps the
 * step, in a cookie that it can neither make nor change. The database has nothing of it, so that nobody can fill it. The values that the
 * answer must contain are calculated from the cookie and the key of this installation.
 */

/** A step that has begun. */
export interface Flow {
  /** The cookie for the browser. */
  readonly cookie: string;
  /** The page of ours that the browser goes to afterwards. */
  readonly next: string;
  /** The time in milliseconds since 1970 from which the step cannot be finished any more. */
  readonly expiresAt: number;
  /** Returns a value that nobody else can know, another one for each name: 43 characters of base64url. */
  readonly secretOf: (name: string) => string;
}

/** The time in which a step can be finished. */
export const FLOW_LIFETIME_MS = 600_000;
const ID_BYTES = 16;
/** A longer address of the next page is dropped. */
const MAX_NEXT_LENGTH = 500;
const COOKIE = /^([\w-]{22}\.\d{1,16}\.[\w-]{0,700})\.([\w-]{43})$/;

/** Begins a step. @param purpose what the step is for; it cannot be finished for another purpose. @param next a page of ours. */
export function beginFlow(key: Buffer, purpose: string, next: string, now: number): Flow {
  const kept = next.length <= MAX_NEXT_LENGTH ? next : "";
  const id = randomBytes(ID_BYTES).toString("base64url");
  return flowOf(key, purpose, `${id}.${now + FLOW_LIFETIME_MS}.${Buffer.from(kept).toString("base64url")}`);
}

/** Null if the cookie does not belong to a step with this purpose, or if the step has expired. */
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
