import type { SpamPost } from "../../src/spam/spam-post.ts";

/** A current browser of somebody's own, which gives no reason. */
export const client = {
  ipAddress: "192.0.2.7",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  acceptLanguage: "en",
};

/** A post filled in within 45 seconds by such a browser, with what `more` says otherwise. */
export function postOf(fields: Record<string, unknown>, more: Partial<SpamPost> = {}): SpamPost {
  return { fields, honeypots: [], elapsedMs: 45_000, client, ...more };
}
