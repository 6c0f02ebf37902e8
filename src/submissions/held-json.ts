import type { HeldPost } from "./held-post.ts";
import { submissionJson } from "./submission-json.ts";

/** A held post as every JSON output shows it. */
export function heldPostJson(held: HeldPost) {
  return { ...submissionJson(held), why: held.why };
}
