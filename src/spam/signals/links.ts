import type { SpamReason } from "../judge.ts";
import type { ReadPost } from "../read-post.ts";
import type { SpamSettings } from "../spam-settings.ts";

const MANY_POINTS = 20;
/** Links that are normal on a form for bug reports. */
const TECHNICAL_MAX_LINKS = 10;

/** What links say: how many there are, and of what kind. */
export function linkReasons(read: ReadPost, settings: SpamSettings): SpamReason[] {
  const reasons: SpamReason[] = [];
  const maxLinks = settings.technical ? Math.max(settings.maxLinks, TECHNICAL_MAX_LINKS) : settings.maxLinks;
  const [first] = read.links;
  if (first !== undefined && read.links.length > maxLinks) {
    reasons.push({
      signal: "links-many",
      points: MANY_POINTS,
      field: first.field,
      detail: `${read.links.length} links, ${maxLinks} allowed`,
    });
  }
  return settings.technical
    ? reasons.map((reason) => ({ ...reason, points: Math.ceil(reason.points / 2) }))
    : reasons;
}
