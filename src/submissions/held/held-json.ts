import { z } from "zod";
import { HELD_REASONS, type HeldPost } from "./held-post.ts";
import { contentJson, contentShape } from "../stored/submission-json.ts";

export const heldId = z.string().describe("`held_` and 26 characters.");

/** A held post as every JSON output shows it. */
export const heldPostShape = contentShape.extend({
  id: heldId,
  spam_class: z.enum(["low", "medium", "high", "blocked"]),
  why: z.enum(HELD_REASONS).describe("Scored as spam, over the monthly limit, or from a refused origin."),
  origin: z.string().optional().describe("Of the page, if it is held for that."),
});

export type HeldPostJson = z.output<typeof heldPostShape>;

export function heldPostJson(held: HeldPost): HeldPostJson {
  const { why, origin, spamClass } = held;
  const content = { ...contentJson(held), spam_class: spamClass };
  return { ...content, why, ...(origin !== undefined && { origin }) };
}
