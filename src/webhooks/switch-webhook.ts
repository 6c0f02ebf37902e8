import type { Actor } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import { writeInTurn } from "../database/read-in-turn.ts";
import type { Clock } from "../foundation/clock.ts";
import { alignDeliveries } from "../outbox/queue/align-deliveries.ts";
import { recordWebhookChange } from "./record-webhook-change.ts";
import type { Webhook } from "./webhook.ts";
import { setWebhookEnabled } from "./webhook-store.ts";

export interface Switch {
  readonly id: string;
  readonly enabled: boolean;
  /** Who asks for it; null is the command line. */
  readonly actor: Actor | null;
}

/** Enables or disables a webhook and moves its deliveries to the matching state. @throws not_found */
export async function switchWebhook(
  db: Database,
  { id, enabled, actor }: Switch,
  clock: Clock,
): Promise<Webhook> {
  const webhook = await db.transaction(function* () {
    const switched = yield* setWebhookEnabled(id, enabled);
    yield* recordWebhookChange(actor, enabled ? "enable" : "disable", switched, clock.now());
    return switched;
  });
  while (await writeInTurn(db, () => alignDeliveries(clock.now())));
  return webhook;
}
