import { expect, test } from "vitest";
import { addFormOwner } from "../support/form-owner.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const WEBHOOK_ID = /\bwh_[0-9a-z]{26}\b/;

/** An operator's webhook to a receiver that fails until it is mended. */
async function beginFailing(server: TestServer, url: string) {
  const ada = await addFormOwner(server, "ada@example.com");
  const form = { endpoint: ada.endpoint.id, url, max_spam_score: "100", allow_private: "on" };
  const made = await ada.post("/dashboard/webhooks/new", form);
  const path = `/dashboard/webhooks/${WEBHOOK_ID.exec(made.text)?.[0]}`;
  return { ada, path };
}

test("what waits for a receiver that failed is tried at once by a button, one that only gets probes too", async () => {
  const server = await startServer();
  let status = 500;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  const { ada, path } = await beginFailing(server, receiver.url);
  expect((await ada.get(path)).text).not.toContain("Try now");
  for (let post = 0; post < 7; post += 1) await server.post(ada.endpoint.secret, goodPost);
  await until(() => server.owner.prepare("SELECT 1 FROM recipient WHERE breaker = 'open'").get());
  const failed = receiver.received.length;
  status = 200;
  expect((await ada.get(path)).text).toContain("Try now");
  const tried = await ada.post(`${path}/try`);
  expect([tried.status, tried.headers.location]).toEqual([303, expect.stringContaining(path)]);
  await until(() => receiver.received.length > failed);
  await until(() => server.owner.prepare("SELECT 1 FROM recipient WHERE failing_since IS NULL").get());
  const delivered = () =>
    server.owner.prepare("SELECT count(*) FROM delivery WHERE state = 'delivered'").pluck().get();
  await until(() => Number(delivered()) > 0);
});

test("a message that waits for its next attempt is tried at once before the receiver gets probes", async () => {
  const server = await startServer();
  let status = 500;
  await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
  const { ada, path } = await beginFailing(server, receiver.url);
  await server.post(ada.endpoint.secret, goodPost);
  await until(() =>
    server.owner.prepare("SELECT 1 FROM delivery WHERE attempts = 1 AND state = 'pending'").get(),
  );
  status = 200;
  await ada.post(`${path}/try`);
  await until(() => server.owner.prepare("SELECT 1 FROM delivery WHERE state = 'delivered'").get());
  expect(receiver.received).toHaveLength(2);
});

test("trying now is bounded like tests are, and nobody tries what belongs to somebody else", async () => {
  const server = await startServer();
  await using receiver = await startReceiverWith((response) => response.writeHead(500).end());
  const { path } = await beginFailing(server, receiver.url);
  const eve = await addFormOwner(server, "eve@example.com");
  expect((await eve.post(`${path}/try`)).status).toBe(404);
  const form = { endpoint: eve.endpoint.id, url: "https://receiver.invalid/", max_spam_score: "100" };
  const own = WEBHOOK_ID.exec((await eve.post("/dashboard/webhooks/new", form)).text)?.[0];
  const statuses = [];
  for (let count = 0; count < 61; count += 1)
    statuses.push((await eve.post(`/dashboard/webhooks/${own}/try`)).status);
  expect([statuses.filter((status) => status === 303).length, statuses.at(-1)]).toEqual([60, 429]);
});

test("the page says whether private addresses are refused for this webhook, as the server's settings have it", async () => {
  const server = await startServer({ webhooks: { allowNetworks: ["10.20.0.0/16", "n8n.internal"] } });
  const ada = await addFormOwner(server, "ada@example.com");
  const shown = async (url: string): Promise<string> => {
    const form = { endpoint: ada.endpoint.id, url, max_spam_score: "100" };
    const made = await ada.post("/dashboard/webhooks/new", form);
    const { text } = await ada.get(`/dashboard/webhooks/${WEBHOOK_ID.exec(made.text)?.[0]}`);
    return /Private addresses<\/dt>\s*<dd>([^<]*)</.exec(text)?.[1] ?? "";
  };
  const allowed = "this one is allowed by the operator of this server";
  expect(await shown("http://10.20.3.4/hook")).toBe(allowed);
  expect(await shown("http://n8n.internal/hook")).toBe(allowed);
  expect(await shown("http://10.21.0.1/hook")).toBe(
    "refused, but those that the operator of this server allowed",
  );
});

test("e-mail that waits for the mail server is tried at once by a button of the System page, for operators", async () => {
  let isDown = true;
  const mail = await startMailServer({
    onConnect: (_session, callback) =>
      callback(isDown ? Object.assign(new Error("down"), { responseCode: 421 }) : null),
  });
  const server = await startServer({
    mail: { host: "127.0.0.1", port: mail.port, from: "forms@example.com" },
  });
  const ada = await addFormOwner(server, "ada@example.com");
  const eve = await addFormOwner(server, "eve@example.com");
  const settings = { ...defaultMailRecipientSettings, address: "ada@example.org" };
  const made = { endpointId: ada.endpoint.id, settings, isConfirmed: true };
  await server.owner.transaction(() => addMailRecipient(made, server.clock.now()));
  await server.post(ada.endpoint.secret, goodPost);
  await until(() => server.owner.prepare("SELECT 1 FROM place_fault").get());
  isDown = false;
  expect((await eve.post("/dashboard/system/mail/try")).status).toBe(404);
  expect(mail.received).toHaveLength(0);
  expect((await ada.get("/dashboard/system")).text).toContain("Try the mail server now");
  expect((await ada.post("/dashboard/system/mail/try")).status).toBe(303);
  await until(() => mail.received.length === 1);
  await until(() => server.owner.prepare("SELECT 1 FROM place_fault").get() === undefined);
});
