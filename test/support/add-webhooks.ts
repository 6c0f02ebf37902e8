import { defaultConfig } from "../../src/config/config.ts";
import type { Steps } from "../../src/database/steps.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";

/** Adds `count` webhooks to an endpoint. Each has its own path below `url`, which may be on this machine. */
export function* addWebhooks(endpointId: string, url: string, count: number): Steps<void> {
  const keyring = createKeyring(defaultConfig.secrets);
  for (let index = 0; index < count; index += 1) {
    const settings = { ...defaultWebhookSettings, url: `${url}/${index}`, allowPrivate: true };
    yield* insertWebhookRows(keyring, endpointId, settings, Date.now());
  }
}
