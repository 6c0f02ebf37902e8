import { z } from "zod";
import { MAX_ORIGIN_LENGTH } from "../../endpoints/allowed-origin.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { isId } from "../../foundation/id.ts";
import { HELD_REASONS, type HeldPost } from "./held-post.ts";
import { contentJson, contentShape, readLine, submissionLine } from "../stored/submission-json.ts";

export const heldId = z.string().describe("`held_` and 26 characters.");

/** A held post as every JSON output shows it. */
export const heldPostShape = contentShape.extend({
  id: heldId,
  spam_class: z.enum(["low", "medium", "high", "blocked"]),
  why: z
    .enum(HELD_REASONS)
    .describe(
      "Why the post is held: it was scored as spam, came over the monthly limit, or came from an origin that is not allowed.",
    ),
  origin: z
    .string()
    .optional()
    .describe("The origin of the page. Absent unless the post is held for its origin."),
});

/** A line with a held post in the archive of a workspace. */
export const heldLine = submissionLine
  .omit({ imported_from: true, state: true, assignee: true, notes: true })
  .extend({
    id: z.string().refine((id) => isId("held", id), "expected a held post's id"),
    why: z.enum(HELD_REASONS),
    origin: z.string().max(MAX_ORIGIN_LENGTH).optional(),
  });

/** Reads a line that {@link heldPostJson} wrote, as a post held by another endpoint. */
export function readHeldLine(
  { why, origin, ...line }: z.output<typeof heldLine>,
  { id: endpointId, schemaVersion, workspaceId }: Endpoint,
): HeldPost {
  const submission = { ...line, state: "open" as const, assignee: null, notes: [] };
  const content = readLine(submission, { endpointId, schemaVersion });
  return { ...content, workspaceId, why, ...(origin !== undefined && { origin }) };
}

export type HeldPostJson = z.output<typeof heldPostShape>;

export function heldPostJson(held: HeldPost): HeldPostJson {
  const { why, origin, spamClass } = held;
  const content = { ...contentJson(held), spam_class: spamClass };
  return { ...content, why, ...(origin !== undefined && { origin }) };
}
