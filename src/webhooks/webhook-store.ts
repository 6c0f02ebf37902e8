import { query } from "../database/database.ts";
import { all, run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import type { Selectable } from "kysely";
import type { Tables } from "../database/tables.generated.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { newId } from "../foundation/id.ts";
import { MAX_RECIPIENTS_OF_KIND, type Recipient } from "../outbox/queue/recipient.ts";
import { forgetFailures, insertRecipient, setWanted } from "../outbox/queue/recipient-store.ts";
import {
  getRecipientOf,
  joinRows,
  listRecipientsOf,
  noneOf,
  type RecipientType,
} from "../recipients/recipient-type.ts";
import type { WebhookFormat } from "./formats/format.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { checkWebhookSettings } from "./check-webhook-settings.ts";
import { newSecret, secretKey } from "./sign.ts";
import {
  addressColumns,
  readHeaders,
  sealHeaders,
  sealKey,
  type StoredKey,
  writeHeaders,
} from "./webhook-secrets.ts";
import {
  MAX_SECRETS,
  ROTATION_GRACE_MS,
  type Webhook,
  WEBHOOK_KIND,
  type WebhookSettings,
} from "./webhook.ts";

/** Webhooks as a type of recipient. An address often contains a secret, so the record of changes names only the host. */
export const WEBHOOKS: RecipientType<Webhook> = {
  kind: WEBHOOK_KIND,
  complete: (recipients) =>
    joinRows(recipients, (ids) => query.selectFrom("webhook").selectAll().where("id", "in", ids), toWebhook),
  none: noneOf("webhook"),
  describe: ({ settings }) => new URL(settings.url).host,
};

/**
 * Adds a webhook. Its secret is returned now and never again; it is null for a chat.
 *
 * @throws usage if a setting is out of its bounds, or if the endpoint has as many webhooks as it may.
 */
export function* insertWebhookRows(
  keyring: Keyring,
  endpointId: string,
  given: WebhookSettings,
  now: number,
): Steps<{ webhook: Webhook; secret: string | null }> {
  const settings = checkWebhookSettings(given, given.format);
  if ((yield* listWebhooks(endpointId)).length >= MAX_RECIPIENTS_OF_KIND) {
    throw new FormsvcError("usage", `an endpoint has at most ${MAX_RECIPIENTS_OF_KIND} webhooks`);
  }
  const id = newId("wh", now);
  const { url, allowPrivate, maxSpamScore, conditions, format } = settings;
  const wanted = { maxSpamScore, conditions };
  yield* insertRecipient({ id, kind: WEBHOOK_KIND, endpointId, ...wanted, confirmedAt: now }, now);
  const headers = writeHeaders(sealHeaders(keyring, id, settings.headers));
  const columns = { ...addressColumns(keyring, id, format, url), allow_private: allowPrivate ? 1 : 0 };
  yield* run(query.insertInto("webhook").values({ id, ...columns, headers, format }));
  const secret = format === "standard" ? newSecret() : null;
  if (secret !== null) yield* insertSecret(keyring, id, secret, now);
  return { webhook: yield* getWebhook(id), secret };
}

/** @throws not_found */
export function getWebhook(id: string): Steps<Webhook> {
  return getRecipientOf(WEBHOOKS, id);
}

/** Webhooks, oldest first. @param endpointId null means every endpoint. */
export function listWebhooks(endpointId: string | null): Steps<Webhook[]> {
  return listRecipientsOf(WEBHOOKS, endpointId === null ? null : [endpointId]);
}

/**
 * Changes settings. Pending deliveries use the new ones from their next attempt on. What was known of an address ends with it, and a
 * webhook that the old one stopped sends again. @throws usage if a setting is out of its bounds;
 * not_found.
 */
export function* updateWebhookRows(
  keyring: Keyring,
  id: string,
  given: Partial<Omit<WebhookSettings, "format">>,
): Steps<Webhook> {
  const { settings, headers } = yield* getWebhook(id);
  const change = checkWebhookSettings(given, settings.format);
  const { allowPrivate, ...wanted } = { ...settings, ...change };
  const { url } = change;
  const address = url === undefined ? {} : addressColumns(keyring, id, settings.format, url);
  const stored = change.headers === undefined ? headers : sealHeaders(keyring, id, change.headers);
  yield* run(
    query
      .updateTable("webhook")
      .set({ ...address, allow_private: allowPrivate ? 1 : 0, headers: writeHeaders(stored) })
      .where("id", "=", id),
  );
  yield* setWanted(id, wanted);
  if (url !== undefined && url !== settings.url) yield* forgetFailures(id);
  return yield* getWebhook(id);
}

export interface RotatedSecret {
  readonly webhook: Webhook;
  /** The new secret, which is returned now and never again. */
  readonly secret: string;
  /** The old secret signs beside the new one until this time, in milliseconds since 1970. */
  readonly oldUntil: number;
}

/** Makes a new secret. @throws usage if the webhook is a chat's, whose service verifies nothing. */
export function* rotateSecretRows(keyring: Keyring, webhook: Webhook, now: number): Steps<RotatedSecret> {
  const { id, settings } = webhook;
  const { format } = settings;
  if (format !== "standard") {
    throw new FormsvcError(
      "usage",
      `a webhook of the format ${format} has no secret; its address is the secret`,
    );
  }
  const secret = newSecret();
  const oldUntil = now + ROTATION_GRACE_MS;
  yield* run(
    query
      .updateTable("webhook_secret")
      .set({ expires_at: oldUntil })
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
  yield* raiseSettingsVersion("rows");
  return { webhook, secret, oldUntil };
}

/** The signing keys of each webhook, the newest first. */
export function* activeKeys(now: number): Steps<Map<string, StoredKey[]>> {
  const rows = query
    .selectFrom("webhook_secret")
    .select(["webhook_id", "key", "expires_at"])
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .orderBy("created_at", "desc");
  const keys = new Map<string, StoredKey[]>();
  for (const { webhook_id: webhookId, key: stored, expires_at: expiresAt } of yield* all(rows)) {
    const known = keys.get(webhookId) ?? [];
    // The key without an end is the newest, even if it was made after the clock was set back.
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

function toWebhook(
  {
    kind: _kind,
    maxSpamScore,
    conditions,
    refusals: _refusals,
    confirmedAt: _confirmedAt,
    ...rest
  }: Recipient,
  row: Selectable<Tables["webhook"]>,
): Webhook {
  return {
    ...rest,
    settings: {
      url: row.url,
      allowPrivate: row.allow_private === 1,
      maxSpamScore,
      conditions,
      format: row.format as WebhookFormat,
    },
    secretUrl: row.secret_url,
    headers: readHeaders(row.headers),
  };
}
