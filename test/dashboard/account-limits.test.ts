import { expect, test } from "vitest";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { addFormOwner, type FormOwner } from "../support/form-owner.ts";
import { startMailedSite } from "../support/mailed-site.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { goodPost, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const PER_HOUR = /In an hour, an account sends \d+ [\w ]+ at most[^<]*try it again in \d+ minutes/;

/** A webhook of an account that is no operator, whose receiver takes everything. Returns the path of its page. */
function addWebhook({ owner, config, clock }: TestServer, { endpoint }: FormOwner, url: string): string {
  const settings = { ...defaultWebhookSettings, url, allowPrivate: true };
  const keyring = createKeyring(config.secrets);
  const { webhook } = owner.now(() => insertWebhookRows(keyring, endpoint.id, settings, clock.now()));
  return `/dashboard/webhooks/${webhook.id}`;
}

function addRecipient({ owner, clock }: TestServer, { endpoint }: FormOwner, address: string): string {
  const settings = { ...defaultMailRecipientSettings, address };
  const made = { endpointId: endpoint.id, settings, isConfirmed: true };
  return `/dashboard/recipients/${owner.now(() => addMailRecipient(made, clock.now())).id}`;
}

async function begin() {
  const site = await startMailedSite();
  const stranger = await addFormOwner(site.server, "stranger@example.com");
  const other = await addFormOwner(site.server, "other@example.com");
  return { ...site, stranger, other };
}

test("an account sends 60 tests an hour over all webhooks and recipients, also over a restart; others send theirs", async () => {
  let received = 0;
  await using receiver = await startReceiverWith((response) => {
    received += 1;
    response.writeHead(200).end();
  });
  const { server, stranger, other, mail } = await begin();
  const webhook = addWebhook(server, stranger, receiver.url);
  const recipient = addRecipient(server, stranger, "holder@example.org");
  for (let time = 0; time < 3; time += 1) expect((await stranger.post(`${recipient}/test`)).status).toBe(200);
  for (let time = 0; time < 57; time += 1) expect((await stranger.post(`${webhook}/test`)).status).toBe(200);
  await server.restart();
  for (const path of [webhook, recipient]) {
    const { status, text, headers } = await stranger.post(`${path}/test`);
    expect([status, text]).toEqual([429, expect.stringMatching(PER_HOUR)]);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  }
  expect([received, mail.received.length]).toEqual([57, 3]);
  const ofOther = addWebhook(server, other, receiver.url);
  expect((await other.post(`${ofOther}/test`)).status).toBe(200);
  server.clock.advance(3_600_000);
  expect((await stranger.post(`${webhook}/test`)).status).toBe(200);
});

test("an account sends 100 messages an hour again as new ones, and a refused one queues nothing", async () => {
  await using receiver = await startReceiverWith((response) => response.writeHead(200).end());
  const { server, stranger } = await begin();
  const webhook = addWebhook(server, stranger, receiver.url);
  expect((await server.post(stranger.endpoint.secret, goodPost)).status).toBe(200);
  const sent = await until(() =>
    server.owner.prepare("SELECT id FROM delivery WHERE state = 'delivered'").pluck().get(),
  );
  const path = `${webhook}/deliveries/${String(sent)}/replay`;
  for (let time = 0; time < 100; time += 1)
    expect((await stranger.post(path, { as_new: "on" })).status).toBe(303);
  const count = () => server.owner.prepare("SELECT count(*) FROM delivery").pluck().get();
  const before = count();
  const { status, text } = await stranger.post(path, { as_new: "on" });
  expect([status, text]).toEqual([429, expect.stringMatching(PER_HOUR)]);
  expect(count()).toBe(before);
  // The same message once more is no new one: its receiver drops what it has.
  expect((await stranger.post(path)).status).toBe(303);
});
