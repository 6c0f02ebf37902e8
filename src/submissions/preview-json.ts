import type { Preview } from "./preview-choices.ts";

/** A preview of changed spam settings as every JSON output shows it. */
export function previewJson({ posts, changes }: Preview) {
  return {
    posts,
    changed: changes.length,
    changes: changes.map(({ id, before, after, reasons }) => ({ id, before, after, reasons })),
  };
}
