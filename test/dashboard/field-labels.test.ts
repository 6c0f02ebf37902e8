import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { startMailedSite, textOf } from "../support/mailed-site.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

const OWNER = "owner@example.org";
const SCHEMA = {
  email: { type: "string", required: true, format: "email", label: "Ihre E-Mail" },
  cake: { type: "string", label: "Wunsch <b>" },
} as const;

test("labels stand on the page of a post, in its e-mail and on the page that a visitor is shown again", async () => {
  const { server, letterTo } = await startMailedSite();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint({ schema: SCHEMA });
  const settings = { ...defaultMailRecipientSettings, address: OWNER };
  const made = { endpointId: endpoint.id, settings, isConfirmed: true };
  server.owner.now(() => addMailRecipient(made, server.clock.now()));
  await server.post(endpoint.secret, { email: "ana@example.org", cake: "Zitrone" });
  const letter = textOf(await letterTo(OWNER));
  expect(letter).toContain("Ihre E-Mail");
  expect(letter).toContain("Wunsch <b>");
  const id = String(server.owner.prepare("SELECT id FROM submission").pluck().get());
  const { text } = await ada.get(`/dashboard/submissions/${id}`);
  expect(text).toContain("<dt><bdi>Ihre E-Mail</bdi></dt>");
  expect(text).toContain("<dt><bdi>Wunsch &lt;b&gt;</bdi></dt>");
  const again = await server.request({
    method: "POST",
    path: `/f/${endpoint.publishable}`,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "text/html" },
    body: "email=x&cake=Zitrone&_language=de",
  });
  expect(again.status).toBe(400);
  expect(again.text).toContain(">Ihre E-Mail</label>");
  expect(again.text).toContain(">Wunsch &lt;b&gt;</label>");
  expect(again.text).toMatch(/<li><a href="#i0">Ihre E-Mail [^<]*<\/a><\/li>/);
});

test("a post is tried with the labels that visitors read, and a long text in lines", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const wish = { type: "string", label: "Ihre Wünsche", maxLength: 2000 } as const;
  const { id } = await server.addEndpoint({
    schema: { ...SCHEMA, wish, cv: { type: "file", label: "Lebenslauf" } },
  });
  const { text } = await ada.get(`/dashboard/endpoints/${id}/try`);
  expect(text).toContain(">Ihre E-Mail</label>");
  expect(text).toMatch(/>Ihre Wünsche<\/label><textarea name="p.wish"/);
  expect(text).toContain("<bdi>Lebenslauf</bdi> takes a file.");
  const lines = { "p.email": "ana@example.org", "p.cake": "x.pdf", "p.wish": "One\r\nTwo" };
  const tried = await ada.post(`/dashboard/endpoints/${id}/try`, lines);
  expect(tried.text).toContain("It would be taken");
  expect(tried.text).toContain("“<bdi>Wunsch &lt;b&gt;</bdi>” has the name of a file");
});

test("a chat of a running server is told in the form's labels and language", async () => {
  await using receiver = await startReceiverWith((response) => void response.end());
  const server = await startServer({ webhooks: { allowNetworks: ["127.0.0.1"] } });
  const schema = { ...SCHEMA, vegan: { type: "boolean" } } as const;
  const endpoint = await server.addEndpoint({ schema, settings: { language: "de" } });
  const chat = {
    ...defaultWebhookSettings,
    url: receiver.url,
    format: "gotify",
    allowPrivate: true,
  } as const;
  const keyring = createKeyring(defaultConfig.secrets);
  server.owner.now(() => insertWebhookRows(keyring, endpoint.id, chat, server.clock.now()));
  await server.post(endpoint.secret, { email: "ana@example.org", cake: "Zitrone", vegan: true });
  const received = await until(() => receiver.received[0]);
  expect(JSON.parse(received.body.toString())).toMatchObject({
    title: wordingIn("de").text("newSubmission", { form: "Contact" }),
    message: "Ihre E-Mail: ana@example.org\nWunsch <b>: Zitrone\nvegan: ja",
  });
});
