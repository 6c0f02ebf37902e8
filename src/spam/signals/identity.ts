import type { SpamReason } from "../judge.ts";
import { findLinks } from "../links.ts";
import type { ReadPost } from "../read-post.ts";

/** Who the sender claims to be. */
export function identityReasons(read: ReadPost): SpamReason[] {
  const reasons: SpamReason[] = [];
  for (const field of read.texts) {
    if (field.role !== "name") continue;
    const reason = (signal: string, points: number, detail: string): void => {
      reasons.push({ signal, points, field: field.name, detail });
    };
    if (field.text.includes("://") || findLinks(field.text, field.name).length > 0)
      reason("name-link", 25, "a link as a name");
    if (/[\r\n]/.test(field.text)) reason("name-lines", 25, "several lines in a name");
  }
  return reasons;
}
