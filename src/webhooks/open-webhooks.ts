import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { webhookLocked } from "../foundation/events.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Log } from "../foundation/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { Webhook } from "./webhook.ts";
import { type OpenWebhook, openWebhook } from "./webhook-secrets.ts";
import { activeKeys, listWebhooks } from "./webhook-store.ts";

/** An enabled webhook with what its requests are made with. */
export interface ReadyWebhook {
  readonly webhook: Webhook;
  readonly open: OpenWebhook;
}

export type ReadWebhooks = (now: number) => readonly ReadyWebhook[];

/**
 * Reads the enabled webhooks. One whose secrets do not open is left out, so that the others go on, and is in the log once
 * until it opens.
 */
export function createWebhookReader(db: SqliteDatabase, keyring: Keyring, log: Log): ReadWebhooks {
  const locked = new Set<string>();
  return (now) => {
    const keys = db.now(() => activeKeys(now));
    return db
      .now(() => listWebhooks(null))
      .flatMap((webhook) => {
        const { id, state } = webhook;
        if (state !== "enabled") return [];
        try {
          const open = openWebhook(keyring, webhook, keys.get(id) ?? []);
          locked.delete(id);
          return [{ webhook, open }];
        } catch (error) {
          if (!(error instanceof FormsvcError)) throw error;
          if (!locked.has(id)) webhookLocked(log, id, error.message);
          locked.add(id);
          return [];
        }
      });
  };
}
