import type { SpamState } from "./choose-spam.ts";

/** The spam settings of a workspace or endpoint as every JSON output shows them. */
export function spamStateJson({ plan, customSpam, chosen, settings }: SpamState) {
  return { plan, custom_spam: customSpam, chosen, settings: { ...settings } };
}
