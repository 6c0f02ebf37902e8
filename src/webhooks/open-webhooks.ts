import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { webhookLocked } from "../foundation/events.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Log } from "../foundation/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { Webhook } from "./webhook.ts";
import { type OpenWebhook, openWebhook, type StoredKey } from "./webhook-secrets.ts";
import { activeKeys, listWebhooks } from "./webhook-store.ts";

/** The data for requests, by the webhooks' ids. */
export type ReadWebhooks = (now: number) => ReadonlyMap<string, OpenWebhook>;

/**
 * Reads the enabled webhooks. A webhook whose secrets do not open is left out, so that the others continue. It is logged once
 * until its secrets open.
 */
export function createWebhookReader(db: SqliteDatabase, keyring: Keyring, log: Log): ReadWebhooks {
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
  return (now) => {
    const keys = db.now(() => activeKeys(now));
    const opened = new Map<string, OpenWebhook>();
    for (const webhook of db.now(() => listWebhooks(null))) {
      if (webhook.state !== "enabled") continue;
      const ready = open(webhook, keys.get(webhook.id) ?? []);
      if (ready !== null) opened.set(webhook.id, ready);
    }
    return opened;
  };
}
