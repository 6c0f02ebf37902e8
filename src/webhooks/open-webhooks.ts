import type { Database } from "../database/database.ts";
import { webhookLocked } from "../foundation/delivery-events.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Log } from "../foundation/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { Webhook } from "./webhook.ts";
import { type OpenWebhook, openWebhook, type StoredKey } from "./webhook-secrets.ts";
import { activeKeys, listWebhooks } from "./webhook-store.ts";

/** Reads the enabled webhooks with everything that requests need, by their ids. */
export type ReadWebhooks = (now: number) => Promise<ReadonlyMap<string, OpenWebhook>>;

/**
 * Returns a function that reads the enabled webhooks. A webhook whose secrets cannot be decrypted is left out, so that the others go on;
 * this is logged once until they can be decrypted.
 */
export function createWebhookReader(db: Database, keyring: Keyring, log: Log): ReadWebhooks {
  const locked = new Set<string>();
  const open = (webhook: Webhook, keys: readonly StoredKey[]): OpenWebhook | null => {
    try {
      const opened = openWebhook(keyring, webhook, keys);
      locked.delete(webhook.id);
      return opened;
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      if (!locked.has(webhook.id)) webhookLocked(log, webhook.id, error.message);
      locked.add(webhook.id);
      return null;
    }
  };
  return async (now) => {
    const { webhooks, keys } = await db.read(function* () {
      return { webhooks: yield* listWebhooks(null), keys: yield* activeKeys(now) };
    });
    const opened = new Map<string, OpenWebhook>();
    for (const webhook of webhooks) {
      if (webhook.state !== "enabled") continue;
      const ready = open(webhook, keys.get(webhook.id) ?? []);
      if (ready !== null) opened.set(webhook.id, ready);
    }
    return opened;
  };
}
