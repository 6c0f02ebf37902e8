import { query } from "../database/database.ts";
import { all, run, type Steps } from "../database/steps.ts";
import { listedIds } from "../database/list-parameter.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { StoredSecret } from "../secrets/stored-secret.ts";
import type { CustomHeaders, StoredHeaders } from "./custom-headers.ts";
import { shownAddress, type WebhookFormat } from "./formats/format.ts";
import { type Destination, destinationOf } from "./send.ts";
import type { Webhook, WebhookSettings } from "./webhook.ts";

/** A signing key as it is stored. It signs until `expiresAt`; null means without end. */
export interface StoredKey {
  readonly stored: Buffer;
  readonly expiresAt: number | null;
}

interface SigningKey {
  readonly key: Buffer;
  readonly expiresAt: number | null;
}

/** The data for requests: the settings with headers, and the signing keys, the newest first. */
export interface OpenWebhook extends WebhookSettings {
  readonly endpointId: string;
  readonly destination: Destination;
  /** As {@link addressMark}. */
  readonly addressMark: string;
  readonly keys: readonly SigningKey[];
}

/** @throws as {@link Keyring.open} does. */
export function openWebhook(keyring: Keyring, webhook: Webhook, keys: readonly StoredKey[]): OpenWebhook {
  const { id, endpointId, settings, headers, secretUrl } = webhook;
  const opened = [...headers].map(([name, stored]) => [
    name,
    keyring.open(stored, headerContext(id, name)).toString(),
  ]);
  const url = secretUrl === null ? settings.url : keyring.open(secretUrl, urlContext(id)).toString();
  return {
    ...settings,
    endpointId,
    url,
    destination: destinationOf(url),
    addressMark: addressMark(settings.url, secretUrl),
    headers: Object.fromEntries(opened) as CustomHeaders,
    keys: keys.map(({ stored, expiresAt }) => ({ key: keyring.open(stored, keyContext(id)), expiresAt })),
  };
}

export function sealKey(keyring: Keyring, webhookId: string, key: Buffer): Buffer {
  return keyring.seal(key, keyContext(webhookId));
}

export function sealHeaders(keyring: Keyring, webhookId: string, headers: CustomHeaders): StoredHeaders {
  const sealed = Object.entries(headers).map(
    ([name, value]) => [name, keyring.seal(Buffer.from(value), headerContext(webhookId, name))] as const,
  );
  return new Map(sealed);
}

/** The columns of an address. The address of a chat is a secret, so it is stored encrypted, and shown in a shortened form. */
export function addressColumns(keyring: Keyring, id: string, format: WebhookFormat, url: string) {
  const secret = format === "standard" ? null : keyring.seal(Buffer.from(url), urlContext(id));
  return { url: shownAddress(format, url), secret_url: secret };
}

/** Tells an address apart from others of the same webhook, by its columns alone. */
function addressMark(url: string, secretUrl: Buffer | null): string {
  return secretUrl === null ? url : secretUrl.toString("base64");
}

/** Reads the marks of the present addresses of these webhooks. */
export function* addressesNow(ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  const columns = query.selectFrom("webhook").select(["id", "url", "secret_url"]);
  const rows = yield* all(columns.where("id", "in", listedIds(ids)));
  return new Map(rows.map(({ id, url, secret_url: secretUrl }) => [id, addressMark(url, secretUrl)]));
}

/** Reads the values of headers. @param json the column: a JSON object of names and values. */
export function readHeaders(json: string): StoredHeaders {
  const values = Object.entries(JSON.parse(json) as Record<string, string>);
  return new Map(values.map(([name, value]) => [name, Buffer.from(value)]));
}

export function writeHeaders(headers: StoredHeaders): string {
  return JSON.stringify(Object.fromEntries([...headers].map(([name, stored]) => [name, stored.toString()])));
}

/** All stored secrets of webhooks: signing keys (expired ones too), addresses of chats, and values of headers. */
export function* listWebhookSecrets(): Steps<StoredSecret[]> {
  const keys = yield* all(query.selectFrom("webhook_secret").select(["webhook_id", "key"]));
  const webhooks = yield* all(query.selectFrom("webhook").select(["id", "headers", "secret_url"]));
  return [
    ...keys.map(({ webhook_id: id, key }) => storedKey(id, key)),
    ...webhooks.flatMap(({ id, secret_url: url }) => (url === null ? [] : [storedUrl(id, url)])),
    ...webhooks.flatMap(({ id, headers }) => storedHeaders(id, headers)),
  ];
}

function storedKey(webhookId: string, key: Buffer): StoredSecret {
  const row = () =>
    query.updateTable("webhook_secret").where("webhook_id", "=", webhookId).where("key", "=", key);
  return {
    context: keyContext(webhookId),
    stored: key,
    replace: (stored) => run(row().set({ key: stored })),
  };
}

function storedUrl(webhookId: string, url: Buffer): StoredSecret {
  const row = query.updateTable("webhook").where("id", "=", webhookId);
  return {
    context: urlContext(webhookId),
    stored: url,
    replace: (stored) => run(row.set({ secret_url: stored })),
  };
}

function storedHeaders(webhookId: string, json: string): StoredSecret[] {
  const headers = new Map(readHeaders(json));
  const row = () => query.updateTable("webhook").where("id", "=", webhookId);
  return [...headers].map(([name, value]) => ({
    context: headerContext(webhookId, name),
    stored: value,
    replace(stored) {
      headers.set(name, stored);
      return run(row().set({ headers: writeHeaders(headers) }));
    },
  }));
}

/** The context that a key is encrypted with. It is part of the encryption, so the text must never change. */
function keyContext(webhookId: string): string {
  return `webhook_secret.key of ${webhookId}`;
}

function urlContext(webhookId: string): string {
  return `webhook.secret_url of ${webhookId}`;
}

function headerContext(webhookId: string, name: string): string {
  return `webhook.headers of ${webhookId}, ${name}`;
}
