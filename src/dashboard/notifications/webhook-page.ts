import { readSchema } from "../../endpoints/endpoint-store.ts";
import { readQueue } from "../../outbox/queue/count-deliveries.ts";
import { findDoubt } from "../../webhooks/find-doubt.ts";
import { testWebhook } from "../../webhooks/test-webhook.ts";
import { webhookOperations } from "../../webhooks/webhook-operations.ts";
import { WEBHOOKS } from "../../webhooks/webhook-store.ts";
import type { Webhook } from "../../webhooks/webhook.ts";
import type { Owned } from "../../recipients/reach-recipient.ts";
import { webhookKinds } from "../../webhooks/webhook-kinds.ts";
import { type Answer, page } from "../answer.ts";
import { readEvidence } from "./read-evidence.ts";
import { actPages } from "./recipient-acts.ts";
import { readDeliveryList } from "./deliveries-card.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { type TestOutcome, webhookView } from "./webhook-view.ts";
import { doubtWords } from "./webhook-words.ts";

/** `/dashboard/webhooks/:id`: the health and the messages of a webhook, and the actions on it. */
export function webhookPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;
  actPages(routes, parts, {
    type: WEBHOOKS,
    folder: "webhooks",
    noun: "webhook",
    nameOf: ({ settings }) => new URL(settings.url).host,
    show,
    test: ({ perform }, webhook) => perform(testWebhook, { webhook }),
    try: ({ perform }, webhook) => perform(webhookOperations.try, { webhook }),
    enable: ({ perform }, webhook) => perform(webhookOperations.enable, { webhook }),
    disable: ({ perform }, webhook) => perform(webhookOperations.disable, { webhook }),
    delete: ({ perform }, webhook) => perform(webhookOperations.delete, { webhook }),
  });

  async function show(visit: Visit, found: Owned<Webhook>, tested: TestOutcome | null): Promise<Answer> {
    const { viewer } = visit;
    const { id, settings } = found.recipient;
    const { allowNetworks } = parts.config.webhooks;
    const list = await readDeliveryList(db, webhookKinds, id, visit);
    const queue = await db.read(() => readQueue(id));
    const fields = await db.read(() => readSchema(found.endpoint));
    const evidence = await readEvidence(parts, viewer, found.recipient);
    // For other viewers the result of the test contains all that they may know.
    const isExplained = tested !== null && viewer.isOperator;
    const refused = isExplained ? doubtWords(await findDoubt(viewer, settings, allowNetworks)) : null;
    return page(
      new URL(settings.url).host,
      webhookView({ ...found, fields, queue, list, tested, evidence, refused, allowNetworks }),
    );
  }
}
