import { z } from "zod";
import { nextCursor } from "../operations/list-page.ts";
import { type Context, operation } from "../operations/operation.ts";
import { listShownDeliveries } from "../outbox/queue/shown-deliveries.ts";
import {
  attemptJson,
  attemptShape,
  deliveryMembers,
  deliveryMembersJson,
} from "../recipients/delivery-json.ts";
import type { RenewMessage } from "../outbox/queue/replay-deliveries.ts";
import type { Delivery } from "../outbox/queue/delivery.ts";
import { leadOf, listAttempts } from "../outbox/queue/delivery-store.ts";
import { deliveryListInput, deliveryReference } from "../recipients/delivery-input.ts";
import { chooseRecipients, reachDelivery } from "../recipients/reach-delivery.ts";
import { replay, type ReplayedKinds, replayedShape, replayInput } from "../recipients/replay-recipients.ts";
import { hideNetwork } from "./hide-network.ts";
import { webhookKinds } from "./webhook-kinds.ts";
import { noWebhook, WEBHOOKS } from "./webhook-store.ts";
import type { Webhook } from "./webhook.ts";

const shape = z.strictObject({ id: z.string(), webhook_id: z.string(), ...deliveryMembers });

function json(delivery: Delivery): z.output<typeof shape> {
  return { id: delivery.id, webhook_id: delivery.recipientId, ...deliveryMembersJson(delivery) };
}

const onlyOne = z.string().nullable().default(null).describe("Only this webhook's, by its id.");

export const listWebhookDeliveries = operation({
  name: "webhook.deliveries",
  summary: "List deliveries to webhooks, newest first",
  kind: "read",
  access: "recipients:read",
  input: z.strictObject({ webhook: onlyOne, ...deliveryListInput }),
  output: z.strictObject({ data: z.array(shape), next_cursor: nextCursor }),
  *run(context, { webhook, endpoint, workspace, submission, ...page }) {
    const choice = { recipientId: webhook, endpoint, workspace };
    const { recipientId, endpointIds } = yield* chooseRecipients(context, webhookKinds, choice, noWebhook);
    const filter = { recipientId, endpointIds, submissionId: submission, ...page };
    const { deliveries, nextCursor: next } = yield* listShownDeliveries(webhookKinds, filter);
    return { data: deliveries.map(json), next_cursor: next };
  },
});

export const showWebhookDelivery = operation({
  name: "webhook.attempts",
  summary: "Show every attempt of a delivery to a webhook and its result",
  kind: "read",
  access: "recipients:read",
  input: z.strictObject(deliveryReference),
  output: z.strictObject({ delivery: shape, data: z.array(attemptShape) }),
  *run(context, { delivery: id }) {
    const { delivery } = yield* reachDelivery(context, webhookKinds, id);
    const attempts = yield* listAttempts(leadOf(delivery));
    const shown = attempts.map((attempt) => hideNetwork(attempt, context.viewing.isOperator));
    return { delivery: json(delivery), data: shown.map(attemptJson) };
  },
});

/** What a replay works with beside the database. */
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
  name: "webhook.replay",
  summary: "Send to webhooks again: one delivery, all that failed, or a range of time",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject({ webhook: onlyOne, ...replayInput }),
  output: replayedShape,
  run: (context: Context<ReplayParts>, { webhook: recipientId, ...request }) =>
    replay(context, { ...replayed, renew: renewerOf(context) }, { recipientId, ...request }),
});

/** Looks for the links only if a message has some. */
function renewerOf({ parts }: Context<ReplayParts>): RenewMessage {
  return (...message) => parts.fileLinks.renew(...message);
}
