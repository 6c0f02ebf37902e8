import { z } from "zod";
import { isIP } from "node:net";
import { workFor } from "../foundation/work-for.ts";
import type { Viewing } from "../operations/actor.ts";
import { plainHost } from "./address-guard.ts";
import { findReceiverRefusal, isReceiverReachable } from "./find-receiver-refusal.ts";
import { NOT_SENT_THERE } from "./hide-network.ts";
import type { WebhookSettings } from "./webhook.ts";

export const doubtShape = {
  refused: z.string().nullable().describe("Why nothing would be sent to the address; null if it is allowed."),
  remedy: z
    .enum(["allow_private", "list_address"])
    .nullable()
    .describe(
      "What an operator can do about it: `allow_private` allows addresses of private networks for this webhook, `list_address` means to add the address to `webhooks.allowNetworks`. Null if there is nothing to do, or for other accounts.",
    ),
};

/** Why nothing would be sent to an address, as far as the account may know; all members are null if it may be reached. */
export type Doubt = z.output<z.ZodObject<typeof doubtShape>>;

const NO_DOUBT: Doubt = { refused: null, remedy: null };

/** Looks the name up now. Only operators learn which addresses exist, because they belong to the server's own network. */
export async function findDoubt(
  { isOperator, accountId }: Pick<Viewing, "isOperator" | "accountId">,
  settings: Pick<WebhookSettings, "url" | "allowPrivate">,
  allowNetworks: readonly string[],
): Promise<Doubt> {
  if (!isOperator) {
    const isReachable = await workFor(accountId, () => isReceiverReachable(settings, allowNetworks));
    return isReachable ? NO_DOUBT : { refused: NOT_SENT_THERE, remedy: null };
  }
  const refusal = await workFor(accountId, () => findReceiverRefusal(settings, allowNetworks));
  if (refusal === null) return NO_DOUBT;
  return { refused: `nothing will be sent there: ${refusal.reason}`, remedy: refusal.remedy };
}

/**
 * The same for a page that only shows webhooks: no name is looked up except `localhost`, so other names are never in doubt. Nor is any host
 * for other accounts than operators, because the difference would tell them which names exist.
 */
export async function findDoubtOfNumber(...given: Parameters<typeof findDoubt>): Promise<Doubt> {
  const [{ isOperator }, { url }] = given;
  const host = plainHost(new URL(url).hostname);
  const isKnown = isIP(host) !== 0 || host === "localhost";
  return isOperator && isKnown ? findDoubt(...given) : NO_DOUBT;
}
