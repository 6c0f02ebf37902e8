import { z } from "zod";

export const heldBytes = z.int().min(1_048_576).max(1_125_899_906_842_624);

/** The settings of posts that were refused and are kept for some days. */
export const heldSection = z.strictObject({
  days: z
    .int()
    .min(1)
    .max(3650)
    .nullable()
    .describe("Days that refused posts are kept; null keeps them for ever."),
  maxPerWorkspace: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .describe(
      "Refused posts that a workspace keeps; beyond it, posts from the client network that has the most are deleted first. Null is unlimited.",
    ),
  maxBytes: heldBytes
    .nullable()
    .describe(
      "Bytes of refused posts that all workspaces keep together; beyond it, posts of the workspace that has the most are deleted first. Null is a tenth of the free disk space, and 10 GiB on PostgreSQL.",
    ),
  maxFileBytes: z
    .int()
    .min(0)
    .max(1_125_899_906_842_624)
    .describe(
      "Bytes of files that the refused posts of a workspace keep; beyond it, a post is held with the names and sizes of its files, but without the files.",
    ),
});

export const defaultHeld: z.output<typeof heldSection> = {
  days: 30,
  maxPerWorkspace: 10_000,
  maxBytes: null,
  maxFileBytes: 52_428_800,
};
