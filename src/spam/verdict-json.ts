import type { SpamVerdict } from "./spam-verdict.ts";

/** A verdict as every JSON output shows it. */
export function verdictJson({ score, spamClass, reasons }: SpamVerdict) {
  return { score, class: spamClass, reasons };
}
