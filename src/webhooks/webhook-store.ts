import type { Selectable } from "kysely";
import { type Database, query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import type { Tables } from "../database/tables.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { newId } from "../foundation/id.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { HEALTHY, RECOVERING } from "../outbox/breaker.ts";
import { BULK_BATCH } from "../outbox/delivery.ts";
import { deleteDeliveries } from "../outbox/delivery-retention.ts";
import { newSecret, secretKey } from "./sign.ts";
import { spread, spreadOutbox } from "../outbox/spread-outbox.ts";
import { readHeaders, sealHeaders, sealKey, type StoredKey, writeHeaders } from "./webhook-secrets.ts";
import {
  MAX_SECRETS,
  MAX_WEBHOOKS_PER_ENDPOINT,
  ROTATION_GRACE_MS,
  type Webhook,
  type WebhookSettings,
} from "./webhook.ts";

/** @throws usage when the endpoint has as many webhooks as it may. */
export function* createWebhook(
  keyring: Keyring,
  endpointId: string,
  settings: WebhookSettings,
  now: number,
): Steps<{ webhook: Webhook; secret: string }> {
  if ((yield* listWebhooks(endpointId)).length >= MAX_WEBHOOKS_PER_ENDPOINT) {
    throw new FormsvcError("usage", `An endpoint has at most ${MAX_WEBHOOKS_PER_ENDPOINT} webhooks.`);
  }
  const id = newId("wh", now);
  const secret = newSecret();
  yield* run(
    query.insertInto("webhook").values({
      id,
      endpoint_id: endpointId,
      ...settingsColumns(settings),
      headers: writeHeaders(sealHeaders(keyring, id, settings.headers)),
      state: "enabled",
      breaker: HEALTHY.breaker,
      breaker_count: HEALTHY.count,
      not_before: HEALTHY.notBeforeMs,
      gone_at: null,
      failing_since: null,
      created_at: now,
    }),
  );
  yield* insertSecret(keyring, id, secret, now);
  yield* raiseSettingsVersion();
  return { webhook: yield* getWebhook(id), secret };
}

/** @throws not_found */
export function* getWebhook(id: string): Steps<Webhook> {
  const row = yield* first(query.selectFrom("webhook").selectAll().where("id", "=", id));
  if (row === undefined)
    throw new FormsvcError("not_found", `there is no webhook ${id}`, { hint: { kind: "list_webhooks" } });
  return toWebhook(row);
}

/** Oldest first. @param endpointId null is every endpoint. */
export function* listWebhooks(endpointId: string | null): Steps<Webhook[]> {
  const rows = query.selectFrom("webhook").selectAll().orderBy("id");
  return (yield* all(endpointId === null ? rows : rows.where("endpoint_id", "=", endpointId))).map(toWebhook);
}

/** Pending deliveries use the new settings from their next attempt on. @throws not_found */
export function* updateWebhook(
  keyring: Keyring,
  id: string,
  change: Partial<WebhookSettings>,
): Steps<Webhook> {
  const { settings, headers } = yield* getWebhook(id);
  const stored = change.headers === undefined ? headers : sealHeaders(keyring, id, change.headers);
  yield* run(
    query
      .updateTable("webhook")
      .set({ ...settingsColumns({ ...settings, ...change }), headers: writeHeaders(stored) })
      .where("id", "=", id),
  );
  yield* raiseSettingsVersion();
  return yield* getWebhook(id);
}

/**
 * Enabling also forgives what went before: deliveries start with one at a time. `alignDeliveries` moves the deliveries
 * to where they belong. @throws not_found
 */
export function* setWebhookEnabled(id: string, enabled: boolean): Steps<Webhook> {
  const { state } = yield* getWebhook(id);
  const recovering = {
    breaker: RECOVERING.breaker,
    breaker_count: RECOVERING.count,
    not_before: RECOVERING.notBeforeMs,
    gone_at: null,
    failing_since: null,
  };
  if (enabled) {
    const change = state === "enabled" ? {} : recovering;
    yield* run(
      query
        .updateTable("webhook")
        .set({ state: "enabled", ...change })
        .where("id", "=", id),
    );
  } else {
    // One that was stopped is disabled too: its owner knows of it then, and need not be told any more.
    yield* run(query.updateTable("webhook").set({ state: "disabled" }).where("id", "=", id));
  }
  yield* raiseSettingsVersion();
  return yield* getWebhook(id);
}

/** Deletes the webhook with its deliveries, these in batches, so that no transaction is long. @throws not_found */
export async function deleteWebhook(db: Database, id: string): Promise<Webhook> {
  const webhook = await db.transaction(() => setWebhookEnabled(id, false));
  const some = query.selectFrom("delivery").select(["id", "submission_id"]).where("webhook_id", "=", id);
  // A body goes with the last delivery of its submission: none may wait in the outbox unseen.
  await spreadOutbox(db);
  let deleted = BULK_BATCH;
  while (deleted === BULK_BATCH) {
    deleted = await db.transaction(function* () {
      yield* spread(Number.POSITIVE_INFINITY);
      return yield* deleteDeliveries(yield* all(some.limit(BULK_BATCH)));
    });
  }
  await db.transaction(function* () {
    yield* spread(Number.POSITIVE_INFINITY);
    yield* deleteDeliveries(yield* all(some));
    yield* run(query.deleteFrom("webhook").where("id", "=", id));
    yield* raiseSettingsVersion();
  });
  return webhook;
}

/** The new secret; the one before goes on signing beside it for {@link ROTATION_GRACE_MS}. @throws not_found */
export function* rotateSecret(keyring: Keyring, id: string, now: number): Steps<string> {
  yield* getWebhook(id);
  const secret = newSecret();
  yield* run(
    query
      .updateTable("webhook_secret")
      .set({ expires_at: now + ROTATION_GRACE_MS })
      .where("webhook_id", "=", id)
      .where("expires_at", "is", null),
  );
  yield* insertSecret(keyring, id, secret, now);
  const kept = ((yield* activeKeys(now)).get(id) ?? []).slice(0, MAX_SECRETS);
  yield* run(
    query
      .deleteFrom("webhook_secret")
      .where("webhook_id", "=", id)
      .where(
        "key",
        "not in",
        kept.map(({ stored }) => stored),
      ),
  );
  yield* raiseSettingsVersion();
  return secret;
}

/** What each webhook's messages are signed with, the newest first. */
export function* activeKeys(now: number): Steps<Map<string, StoredKey[]>> {
  const rows = query
    .selectFrom("webhook_secret")
    .select(["webhook_id", "key", "expires_at"])
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .orderBy("created_at", "desc");
  const keys = new Map<string, StoredKey[]>();
  for (const { webhook_id: webhookId, key: stored, expires_at: expiresAt } of yield* all(rows)) {
    const known = keys.get(webhookId) ?? [];
    // The one without an end is the newest, also where the clock was set back before it was made.
    if (expiresAt === null) known.unshift({ stored, expiresAt });
    else known.push({ stored, expiresAt });
    keys.set(webhookId, known);
  }
  return keys;
}

function* insertSecret(keyring: Keyring, webhookId: string, secret: string, now: number): Steps<void> {
  const key = sealKey(keyring, webhookId, secretKey(secret));
  const row = { webhook_id: webhookId, key, created_at: now, expires_at: null };
  yield* run(query.insertInto("webhook_secret").values(row));
}

function settingsColumns({ url, allowPrivate, maxSpamScore }: Webhook["settings"]) {
  return { url, allow_private: allowPrivate ? 1 : 0, max_spam_score: maxSpamScore };
}

function toWebhook(row: Selectable<Tables["webhook"]>): Webhook {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    settings: {
      url: row.url,
      allowPrivate: row.allow_private === 1,
      maxSpamScore: row.max_spam_score,
    },
    headers: readHeaders(row.headers),
    state: row.state,
    health: { breaker: row.breaker, count: row.breaker_count, notBeforeMs: row.not_before },
    goneAt: row.gone_at,
    failingSince: row.failing_since,
    createdAt: row.created_at,
  };
}
