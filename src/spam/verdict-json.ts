import { z } from "zod";
import type { SpamVerdict } from "./spam-verdict.ts";

export const reasonShape = z.strictObject({
  signal: z.string(),
  points: z.number(),
  field: z.string().nullable(),
  detail: z.string(),
});

/** The form of a verdict in every JSON output. */
export const verdictShape = z.strictObject({
  score: z.number(),
  class: z.enum(["low", "medium", "high", "blocked"]),
  reasons: z.array(reasonShape).readonly().describe("The reasons for the score; their points add up to it."),
});

export type VerdictJson = z.output<typeof verdictShape>;

export function verdictJson({ score, spamClass, reasons }: SpamVerdict): VerdictJson {
  return { score, class: spamClass, reasons };
}
