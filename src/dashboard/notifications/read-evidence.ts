import { wasTried } from "../../outbox/queue/count-deliveries.ts";
import { findDoubtOfNumber } from "../../webhooks/find-doubt.ts";
import type { Viewer } from "../../sessions/session.ts";
import type { Webhook } from "../../webhooks/webhook.ts";
import type { DashboardParts } from "../parts.ts";
import type { WebhookEvidence } from "./webhook-words.ts";

/** What pages tell this viewer of a webhook's health beside its own row. */
export async function readEvidence(
  { db, config }: DashboardParts,
  viewer: Viewer,
  { id, settings }: Pick<Webhook, "id" | "settings">,
): Promise<WebhookEvidence> {
  return {
    doubt: await findDoubtOfNumber(viewer, settings, config.webhooks.allowNetworks),
    wasTried: await db.read(() => wasTried(id)),
  };
}
