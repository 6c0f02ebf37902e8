import type { Actor } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { recordWebhookChange } from "./record-webhook-change.ts";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  type RotatedSecret,
  rotateSecret,
  updateWebhook,
} from "./webhook-store.ts";
import type { Webhook, WebhookSettings } from "./webhook.ts";

/** What the command and the page do to webhooks. Each is recorded with who asked for it; null is the command line. */

export interface NewWebhook {
  readonly endpointId: string;
  readonly settings: WebhookSettings;
  readonly actor: Actor | null;
}

/** As {@link createWebhook}. @throws usage */
export function* addWebhook(
  keyring: Keyring,
  { endpointId, settings, actor }: NewWebhook,
  now: number,
): Steps<{ webhook: Webhook; secret: string | null }> {
  const made = yield* createWebhook(keyring, endpointId, settings, now);
  yield* recordWebhookChange(actor, "create", made.webhook, now);
  return made;
}

export interface WebhookChange {
  readonly id: string;
  readonly change: Partial<Omit<WebhookSettings, "format">>;
  readonly actor: Actor | null;
}

/** As {@link updateWebhook}. @throws usage, not_found */
export function* changeWebhook(
  keyring: Keyring,
  { id, change, actor }: WebhookChange,
  now: number,
): Steps<Webhook> {
  const webhook = yield* updateWebhook(keyring, id, change);
  yield* recordWebhookChange(actor, "set", webhook, now);
  return webhook;
}

/** As {@link rotateSecret}. @throws not_found */
export function* renewSecret(
  keyring: Keyring,
  id: string,
  actor: Actor | null,
  now: number,
): Steps<RotatedSecret> {
  const rotated = yield* rotateSecret(keyring, id, now);
  yield* recordWebhookChange(actor, "rotate-secret", rotated.webhook, now);
  return rotated;
}

/** As {@link deleteWebhook}. @throws not_found */
export async function removeWebhook(
  db: Database,
  id: string,
  actor: Actor | null,
  now: number,
): Promise<void> {
  // Recorded first: the deliveries go in many transactions, and the webhook in the last one.
  await db.transaction(function* () {
    yield* recordWebhookChange(actor, "delete", yield* getWebhook(id), now);
  });
  await deleteWebhook(db, id, now);
}
