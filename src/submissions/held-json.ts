import type { HeldPost } from "./held-post.ts";
import { submissionJson } from "./submission-json.ts";

/** A held post as every JSON output shows it. */
export function heldPostJson(held: HeldPost) {
  const { why, origin } = held;
  return { ...submissionJson(held), why, ...(origin !== undefined && { origin }) };
}
