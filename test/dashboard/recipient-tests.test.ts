import { expect, test } from "vitest";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { startMailedSite, textOf } from "../support/mailed-site.ts";
import { type Script, startScriptedServer } from "../support/smtp-servers.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

const HOLDER = "holder@example.org";

/** A server that sends e-mail, with an endpoint whose recipients agreed, and the operator. */
async function begin(port?: number) {
  const site = await startMailedSite(
    port === undefined ? {} : { mail: { host: "127.0.0.1", port, from: "forms@example.com" } },
  );
  const { owner, clock } = site.server;
  const ada = await visit(site.server);
  const { id: endpointId } = await site.server.addEndpoint();
  const add = (address: string, isConfirmed = true): string => {
    const settings = { ...defaultMailRecipientSettings, address };
    const given = { endpointId, settings, isConfirmed };
    return `/dashboard/recipients/${owner.now(() => addMailRecipient(given, clock.now())).id}`;
  };
  return { ...site, ada, add };
}

test("a test e-mail arrives, the page has the mail server's words, and nothing is stored but who sent it", async () => {
  const { server, ada, add, mail } = await begin();
  const path = add(HOLDER);
  expect((await ada.get(path)).text).toContain(`action="${path}/test"`);
  const { status, text } = await ada.post(`${path}/test`);
  expect([status, text]).toEqual([200, expect.stringContaining("The mail server took it: 250 queued.")]);
  expect(text).toContain("look among the spam");
  const [received] = mail.received;
  expect(received?.to).toEqual([HOLDER]);
  expect(textOf(received ?? { from: "", to: [], raw: Buffer.alloc(0) })).toContain("This is a test.");
  expect(server.owner.prepare("SELECT count(*) FROM delivery").pluck().get()).toBe(0);
  const changes = server.owner.prepare("SELECT email FROM audit_event WHERE action = 'recipient.test'");
  expect(changes.pluck().all()).toEqual(["ada@example.com"]);
});

test.each<[Script, string, string]>([
  [{ RCPT: "550 5.1.1 no such user <b>" }, "550 5.1.1 no such user &lt;b&gt;", "Check its spelling"],
  [{ RCPT: "450 4.2.0 greylisted" }, "450 4.2.0 greylisted", "Try it again in some minutes"],
  [{ MAIL: "553 5.7.1 not yours" }, "553 5.7.1 not yours", "has to mend its mail settings"],
  [{ content: "drop" }, "it may have arrived", "before you try it again"],
])("a test that is not taken says why and what to do: %j", async (script, said, advice) => {
  const scripted = await startScriptedServer(script);
  const { ada, add } = await begin(scripted.port);
  const { status, text } = await ada.post(`${add(HOLDER)}/test`);
  expect([status, text]).toEqual([200, expect.stringContaining(said)]);
  expect(text).toContain(advice);
});

test("an address gets five tests an hour from all accounts together", async () => {
  const { ada, add, mail } = await begin();
  const [one, other] = [add(HOLDER), add("other@example.org")];
  const press = async (path: string) => (await ada.post(`${path}/test`)).status;
  for (let time = 0; time < 5; time += 1) expect(await press(one)).toBe(200);
  const { status, text } = await ada.post(`${one}/test`);
  expect([status, text]).toEqual([429, expect.stringMatching(/try it again in \d+ minutes/)]);
  for (let time = 0; time < 5; time += 1) expect(await press(other)).toBe(200);
  expect(mail.received).toHaveLength(10);
});

test("while a test of an account is under way, it starts no other", async () => {
  const scripted = await startScriptedServer({ RCPT: "silent" });
  const { ada, add } = await begin(scripted.port);
  const path = add(HOLDER);
  const first = ada.post(`${path}/test`);
  await until(() => scripted.lines.some((line) => line.startsWith("RCPT")) || null);
  const { status, text } = await ada.post(`${path}/test`);
  expect([status, text]).toEqual([429, expect.stringContaining("Another test e-mail is under way")]);
  await scripted.close();
  expect((await first).status).toBe(200);
});

test("nobody is sent a test who did not agree, or wants no e-mail any more", async () => {
  const { server, ada, add, mail } = await begin();
  const asked = add(HOLDER, false);
  const gone = add("gone@example.org");
  server.owner.execute("UPDATE mail_recipient SET unsubscribed_at = 1000 WHERE address = 'gone@example.org'");
  for (const path of [asked, gone]) {
    expect((await ada.get(path)).text).not.toContain(`${path}/test`);
    expect((await ada.post(`${path}/test`)).status).toBe(409);
  }
  expect(mail.received).toEqual([]);
});
