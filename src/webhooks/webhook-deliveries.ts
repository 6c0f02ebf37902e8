import { z } from "zod";
import { type Context, operation } from "../operations/operation.ts";
import { listShownDeliveries } from "../outbox/queue/shown-deliveries.ts";
import { deliveryMembers, deliveryMembersJson } from "../recipients/delivery-json.ts";
import type { RenewMessage } from "../outbox/queue/replay-deliveries.ts";
import type { Delivery } from "../outbox/queue/delivery.ts";
import { leadOf, listAttempts } from "../outbox/queue/delivery-store.ts";
import { deliveryOperations, onlyRecipient } from "../recipients/delivery-operations.ts";
import { reachDelivery } from "../recipients/reach-delivery.ts";
import { replay, type ReplayedKinds, replaying, replayInput } from "../recipients/replay-recipients.ts";
import { hideNetwork } from "./hide-network.ts";
import { webhookKinds } from "./webhook-kinds.ts";
import { WEBHOOKS } from "./webhook-store.ts";
import type { Webhook } from "./webhook.ts";

const shape = z.strictObject({ id: z.string(), webhook_id: z.string(), ...deliveryMembers });

function json(delivery: Delivery): z.output<typeof shape> {
  return { id: delivery.id, webhook_id: delivery.recipientId, ...deliveryMembersJson(delivery) };
}

function* getOne(context: Context, id: string) {
  const { delivery } = yield* reachDelivery(context, webhookKinds, id);
  const attempts = yield* listAttempts(leadOf(delivery));
  return {
    delivery,
    attempts: attempts.map((attempt) => hideNetwork(attempt, context.viewing.isOperator)),
  };
}

export const { list: listWebhookDeliveries, show: showWebhookDelivery } = deliveryOperations({
  noun: "webhook",
  recipient: "webhook",
  kinds: webhookKinds,
  none: WEBHOOKS.none,
  shape,
  json,
  list: (filter) => listShownDeliveries(webhookKinds, filter),
  get: getOne,
  summaries: {
    list: "List deliveries to webhooks, newest first",
    show: "Show every attempt of a delivery to a webhook and its result",
  },
});

/** What a replay needs besides the database. */
interface ReplayParts {
  readonly fileLinks: { readonly renew: RenewMessage };
}

const replayed: Omit<ReplayedKinds<Webhook>, "renew"> = {
  ...webhookKinds,
  type: WEBHOOKS,
  action: "webhook.replay",
  everyone: "every webhook",
};

export const replayWebhook = operation({
  ...replaying,
  name: "webhook.replay",
  summary: "Send to webhooks again: one delivery, all that failed, or a range of time",
  input: z.strictObject({ ...onlyRecipient("webhook"), ...replayInput }),
  run: (context: Context<ReplayParts>, { webhook: recipientId, ...request }) =>
    replay(context, { ...replayed, renew: renewerOf(context) }, { recipientId, ...request }),
});

/** The renewal of messages, which is taken from the parts only when a message needs it. */
function renewerOf({ parts }: Context<ReplayParts>): RenewMessage {
  return (...message) => parts.fileLinks.renew(...message);
}
