import { FormsvcError } from "../../foundation/errors.ts";
import { countAction } from "../../outbox/queue/account-limits.ts";
import { readQueue } from "../../outbox/queue/count-deliveries.ts";
import { tellAttempt } from "../../webhooks/hide-network.ts";
import { sendTest, TEST_DATA, type TestResult } from "../../webhooks/send-test.ts";
import { switchWebhook } from "../../webhooks/switch-webhook.ts";
import { getViewableWebhook, type OwnedWebhook } from "../../webhooks/viewable-webhooks.ts";
import { webhookChannel } from "../../webhooks/webhook-deliveries.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { readDeliveryList } from "./deliveries-card.ts";
import { applied, type DashboardParts } from "../parts.ts";
import { findDoubt } from "./receiver-doubt.ts";
import type { Routes, Visit } from "../routes.ts";
import { takeTryNow } from "./try-now.ts";
import { pathOf, webhookView } from "./webhook-view.ts";

/** Tests at once, of everybody and of one account. Each may take as long as an attempt does, and holds a place of requests. */
const MAX_TESTS = 8;
const MAX_TESTS_AN_ACCOUNT = 2;

/** `/dashboard/webhooks/:id`: its health and its messages, a test, pausing and starting. */
export function webhookPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;
  const tests: string[] = [];

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<OwnedWebhook> =>
    db.read(() => getViewableWebhook(viewer, params["id"] ?? ""));

  routes.read("/webhooks/:id", async (visit) => show(visit, await owned(visit), null));

  routes.write("/webhooks/:id/test", async (visit) => {
    const found = await owned(visit);
    const { accountId } = visit.viewer;
    const own = tests.filter((each) => each === accountId).length;
    if (tests.length >= MAX_TESTS || own >= MAX_TESTS_AN_ACCOUNT)
      throw new FormsvcError("unavailable", "Other tests are under way. Try it again in a moment.");
    tests.push(accountId);
    try {
      await db.transaction(() => countAction(visit.viewer, "test", 1, visit.now));
      const message = { webhook: found.webhook, endpointName: found.endpoint.name, data: TEST_DATA };
      const result = await sendTest(parts, message, visit.now);
      return await show(visit, found, tellAttempt(result, visit.viewer.isOperator));
    } finally {
      tests.splice(tests.indexOf(accountId), 1);
    }
  });

  routes.write("/webhooks/:id/try", async (visit) => {
    const { id } = (await owned(visit)).webhook;
    return takeTryNow(parts, visit, id, pathOf(id));
  });

  for (const enabled of [true, false]) {
    routes.write(`/webhooks/:id/${enabled ? "enable" : "disable"}`, async (visit) => {
      const { webhook } = await owned(visit);
      const asked = { id: webhook.id, enabled, actor: visit.viewer };
      await applied(parts, () => switchWebhook(db, asked, parts.clock));
      return redirect(pathOf(webhook.id), enabled ? "sending-started" : "sending-paused");
    });
  }

  async function show(visit: Visit, found: OwnedWebhook, tested: TestResult | null): Promise<Answer> {
    const { viewer } = visit;
    const { id, settings } = found.webhook;
    const { allowNetworks } = parts.config.webhooks;
    const list = await readDeliveryList(db, webhookChannel, id, visit);
    const queue = await db.read(() => readQueue(id));
    // To others the test says all that they may know.
    const isExplained = tested !== null && viewer.isOperator;
    const refused = isExplained ? await findDoubt(viewer, settings, allowNetworks) : null;
    return page(
      new URL(settings.url).host,
      webhookView({ ...found, queue, list, tested, refused, allowNetworks }),
    );
  }
}
