import { z } from "zod";
import { reasonShape, verdictShape } from "../../spam/verdict-json.ts";
import type { Preview } from "./preview-choices.ts";

const brief = verdictShape.pick({ score: true, class: true });

/** The form of a preview of changed spam settings in every JSON output. */
export const previewShape = z.strictObject({
  posts: z
    .number()
    .describe(
      "The number of posts that were scored with the old and the new settings: the last submissions and held posts.",
    ),
  changed: z.number(),
  changes: z.array(
    z.strictObject({ id: z.string(), before: brief, after: brief, reasons: z.array(reasonShape).readonly() }),
  ),
});

export function previewJson({ posts, changes }: Preview): z.output<typeof previewShape> {
  return {
    posts,
    changed: changes.length,
    changes: changes.map(({ id, before, after, reasons }) => ({ id, before, after, reasons })),
  };
}
