import { readQueue } from "../../outbox/queue/count-deliveries.ts";
import { findDoubt } from "../../webhooks/find-doubt.ts";
import { testWebhook } from "../../webhooks/test-webhook.ts";
import { getViewableWebhook, type OwnedWebhook } from "../../webhooks/viewable-webhooks.ts";
import { disableWebhook, enableWebhook, tryWebhook } from "../../webhooks/webhook-operations.ts";
import { webhookKinds } from "../../webhooks/webhook-kinds.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { readDeliveryList } from "./deliveries-card.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { pathOf, type TestOutcome, webhookView } from "./webhook-view.ts";
import { doubtWords } from "./webhook-words.ts";

/** `/dashboard/webhooks/:id`: its health and its messages, a test, pausing and starting. */
export function webhookPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<OwnedWebhook> =>
    db.read(() => getViewableWebhook(viewer, params["id"] ?? ""));

  routes.read("/webhooks/:id", async (visit) => show(visit, await owned(visit), null));

  routes.write("/webhooks/:id/test", async (visit) => {
    const found = await owned(visit);
    return show(visit, found, await visit.perform(testWebhook, { webhook: found.webhook.id }));
  });

  routes.write("/webhooks/:id/try", async (visit) => {
    const { id = "" } = visit.params;
    await visit.perform(tryWebhook, { webhook: id });
    return redirect(pathOf(id), "tried-now");
  });

  for (const enabled of [true, false]) {
    routes.write(`/webhooks/:id/${enabled ? "enable" : "disable"}`, async (visit) => {
      const { id = "" } = visit.params;
      await visit.perform(enabled ? enableWebhook : disableWebhook, { webhook: id });
      return redirect(pathOf(id), enabled ? "sending-started" : "sending-paused");
    });
  }

  async function show(visit: Visit, found: OwnedWebhook, tested: TestOutcome | null): Promise<Answer> {
    const { viewer } = visit;
    const { id, settings } = found.webhook;
    const { allowNetworks } = parts.config.webhooks;
    const list = await readDeliveryList(db, webhookKinds, id, visit);
    const queue = await db.read(() => readQueue(id));
    // To others the test says all that they may know.
    const isExplained = tested !== null && viewer.isOperator;
    const refused = isExplained ? doubtWords(await findDoubt(viewer, settings, allowNetworks)) : null;
    return page(
      new URL(settings.url).host,
      webhookView({ ...found, queue, list, tested, refused, allowNetworks }),
    );
  }
}
