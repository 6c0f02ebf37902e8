import { expect, test } from "vitest";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { findReceiverRefusal } from "../../src/webhooks/find-receiver-refusal.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { createHttpSender } from "../../src/webhooks/send.ts";
import { sendTest } from "../../src/webhooks/send-test.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { verifyWithOfficial, WebhookWorld } from "../support/webhook-world.ts";

test("a test message is genuine and arrives at once, and nothing of it is stored", async () => {
  await using world = new WebhookWorld();
  await using receiver = await startReceiverWith((response) => response.writeHead(418).end());
  const { webhook, secret } = world.addWebhook(receiver.url);
  const allowed = parseAllowedNetworks(["127.0.0.1"]);
  const sender = createHttpSender({ allowed, timeoutMs: 2000, resolveHost: createHostResolver() });
  const { db, keyring } = world;
  const result = await sendTest(
    { db, keyring, sender, dashboardUrl: null },
    { webhook, endpointName: "Contact", data: { message: "hi" } },
    Date.now(),
  );
  await sender.destroy();
  expect(result).toMatchObject({ webhookId: webhook.id, url: receiver.url, status: 418 });
  expect(result.outcome).not.toBe("delivered");
  const [received] = receiver.received;
  if (received === undefined) throw new Error("nothing arrived");
  verifyWithOfficial(secret, received);
  expect(received.headers["webhook-id"]).toBe(result.messageId);
  expect(world.deliveryIds()).toEqual([]);
  expect(db.prepare("SELECT count(*) FROM submission").pluck().get()).toBe(0);
});

test("a receiver that the guard refuses is told of with what would allow it", async () => {
  const settings = { url: "http://127.0.0.1:9/", allowPrivate: false };
  expect(await findReceiverRefusal(settings, [])).toEqual({
    host: "127.0.0.1",
    reason: "127.0.0.1 is a loopback address",
    remedy: "allow_private",
  });
  expect(await findReceiverRefusal({ ...settings, allowPrivate: true }, [])).toBeNull();
  expect(await findReceiverRefusal(settings, ["127.0.0.1"])).toBeNull();
  const metadata = { ...settings, url: "http://169.254.169.254/", allowPrivate: true };
  expect(await findReceiverRefusal(metadata, [])).toMatchObject({ remedy: "list_address" });
});
