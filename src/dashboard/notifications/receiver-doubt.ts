import { workFor } from "../../foundation/work-for.ts";
import { findReceiverRefusal, isReceiverReachable } from "../../webhooks/find-receiver-refusal.ts";
import { NOT_SENT_THERE } from "../../webhooks/hide-network.ts";
import type { WebhookSettings } from "../../webhooks/webhook.ts";
import { NOT_SENT_ADVICE, refusalSentence } from "./webhook-words.ts";

/** Why nothing would be sent to this address, in the words for this viewer; null if it may be reached. */
export async function findDoubt(
  { isOperator, accountId }: { readonly isOperator: boolean; readonly accountId: string },
  settings: Pick<WebhookSettings, "url" | "allowPrivate">,
  allowNetworks: readonly string[],
): Promise<string | null> {
  if (!isOperator)
    return (await workFor(accountId, () => isReceiverReachable(settings, allowNetworks)))
      ? null
      : `${NOT_SENT_THERE} ${NOT_SENT_ADVICE}`;
  const refusal = await workFor(accountId, () => findReceiverRefusal(settings, allowNetworks));
  return refusal && refusalSentence(refusal);
}
