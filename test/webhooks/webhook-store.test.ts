import { expect, test } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import {
  insertWebhookRows,
  getWebhook,
  listWebhooks,
  updateWebhookRows,
} from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings, type WebhookSettings } from "../../src/webhooks/webhook.ts";
import { WebhookWorld } from "../support/webhook-world.ts";

const good: WebhookSettings = {
  ...defaultWebhookSettings,
  url: "https://example.com/",
  headers: { "x-team": "sales" },
  maxSpamScore: 50,
};

const BAD: readonly [name: string, change: Partial<Omit<WebhookSettings, "format">>][] = [
  ["a spam score above 100", { maxSpamScore: 101 }],
  ["a spam score below 0", { maxSpamScore: -1 }],
  ["a spam score that is no whole number", { maxSpamScore: 1.5 }],
  ["an address that is none", { url: "example.com" }],
  ["an address of another scheme", { url: "ftp://example.com/" }],
  ["a header of formsvc's own", { headers: { Host: "example.com" } }],
  ["a header that would end early", { headers: { "x-a": "b\r\nc: d" } }],
  ["two headers of one name", { headers: { "X-A": "b", "x-a": "c" } }],
];

test.each(BAD)(
  "%s is refused by creating and by changing a webhook, and nothing is changed",
  async (_, bad) => {
    await using world = new WebhookWorld();
    const { keyring, endpointId, db } = world;
    const now = world.clock.now();
    const { webhook } = db.now(() => insertWebhookRows(keyring, endpointId, good, now));
    const refused = expect.objectContaining({ name: FormsvcError.name, code: "usage" });
    const create = db.transaction(() => insertWebhookRows(keyring, endpointId, { ...good, ...bad }, now));
    await expect(create).rejects.toEqual(refused);
    const update = db.transaction(() =>
      updateWebhookRows(keyring, webhook.id, { ...bad, allowPrivate: true }),
    );
    await expect(update).rejects.toEqual(refused);
    expect(db.now(() => listWebhooks(null))).toEqual([webhook]);
  },
);

test("a webhook is stored with its address and the names of its headers in normal form", async () => {
  await using world = new WebhookWorld();
  const { keyring, db } = world;
  const { webhook } = world.addWebhook("HTTPS://Example.com#part", { headers: { "X-Team": "sales" } });
  expect(webhook.settings.url).toBe("https://example.com/");
  expect([...webhook.headers.keys()]).toEqual(["x-team"]);
  await db.transaction(() => updateWebhookRows(keyring, webhook.id, { url: "HTTP://0x7f.1" }));
  expect(db.now(() => getWebhook(webhook.id)).settings.url).toBe("http://127.0.0.1/");
});

const KNOWN = "breaker = 'open', breaker_count = 3, not_before = 9000, failing_since = 1000, gone_at = 1000";

test("what was known of an address ends with it: its failures, its probes, and that it is gone, but not that its owner paused it", async () => {
  await using world = new WebhookWorld();
  const { keyring, db } = world;
  const { webhook } = world.addWebhook("https://old.example.com/");
  const change = (state: string, url: string) => {
    db.execute(`UPDATE recipient SET ${KNOWN}, state = '${state}'`);
    return db.now(() => updateWebhookRows(keyring, webhook.id, { url, maxSpamScore: 70 }));
  };
  const nothing = {
    failingSince: null,
    goneAt: null,
    breaker: { state: "ramping", count: 1, notBeforeMs: 0 },
  };
  expect(change("stopped", "https://old.example.com/")).toMatchObject({
    state: "stopped",
    failingSince: 1000,
    breaker: { state: "open" },
  });
  expect(change("enabled", "https://a.example.com/")).toMatchObject({ state: "enabled", ...nothing });
  expect(change("stopped", "https://b.example.com/")).toMatchObject({ state: "enabled", ...nothing });
  expect(change("disabled", "https://c.example.com/")).toMatchObject({ state: "disabled", ...nothing });
});
