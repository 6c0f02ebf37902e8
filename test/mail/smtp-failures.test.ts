import { describe, expect, onTestFinished, test } from "vitest";
import { classifyMail } from "../../src/mail/smtp/classify-mail.ts";
import type { SmtpResult } from "../../src/mail/smtp/smtp-result.ts";
import { createSmtpSender, type SmtpSender } from "../../src/mail/smtp/smtp-sender.ts";
import type { SmtpSettings } from "../../src/mail/smtp/smtp-settings.ts";
import { until } from "../support/until.ts";
import { plainSettings, type Script, startScriptedServer } from "../support/smtp-servers.ts";

const raw = Buffer.from("Subject: Hello\r\n\r\nHello\r\n");
const mail = { to: "ada@example.org", raw };
const login = { login: { user: "forms", password: "secret" } };

function senderWith(settings: SmtpSettings): SmtpSender {
  const sender = createSmtpSender(settings);
  onTestFinished(() => sender.close());
  return sender;
}

async function sendTo(script: Script, change: Partial<SmtpSettings> = {}): Promise<SmtpResult> {
  const { port } = await startScriptedServer(script);
  return senderWith(plainSettings(port, change)).send(mail);
}

/** Both ways in which commands are sent: ahead of the replies, and one by one. */
const OFFERS = { "sent ahead": {}, "one by one": { EHLO: "250 scripted" } };
const AUTH = "250-scripted\r\n250 AUTH PLAIN LOGIN";

describe.each(Object.entries(OFFERS))("commands %s", (_name, offer) => {
  test.each([
    ["MAIL", "550 5.7.1 not you", "sender", "sender_refused", "destination"],
    ["MAIL", "530 log in first", "sender", "relay_refused", "destination"],
    ["MAIL", "552 5.3.4 too large", "sender", "content_refused", "recipient"],
    ["MAIL", "451 later", "sender", "deferred", "destination"],
    ["MAIL", "421 closing", "sender", "deferred", "destination"],
    ["RCPT", "550 5.1.1 unknown", "recipient", "recipient_refused", "message"],
    ["RCPT", "553 no such mailbox", "recipient", "recipient_refused", "message"],
    ["RCPT", "554 5.7.1 <ada@example.org>: Relay access denied", "recipient", "relay_refused", "destination"],
    ["RCPT", "550 relaying is not permitted", "recipient", "relay_refused", "destination"],
    ["RCPT", "550 5.7.54 SMTP; Unable to relay recipient", "recipient", "relay_refused", "destination"],
    ["RCPT", "550 5.1.1 mx said: 550 5.7.1 relay denied", "recipient", "recipient_refused", "message"],
    ["RCPT", "530 5.7.0 Authentication required", "recipient", "relay_refused", "destination"],
    ["RCPT", "450 4.2.0 greylisted", "recipient", "deferred", "recipient"],
    ["RCPT", "421 closing", "recipient", "deferred", "recipient"],
    ["DATA", "451 later", "data", "deferred", "recipient"],
    ["DATA", "554 no", "data", "relay_refused", "destination"],
    ["DATA", "421 closing", "data", "deferred", "recipient"],
    ["content", "451 later", "content", "deferred", "recipient"],
    ["content", "421 closing", "content", "deferred", "recipient"],
    ["content", "550 5.7.1 spam", "content", "content_refused", "recipient"],
    ["content", "552 5.3.4 too large", "content", "content_refused", "recipient"],
  ] as const)("%s answered with %s fails at %s as %s", async (...row) => {
    const [verb, words, stage, outcome, blame] = row;
    const result = await sendTo({ ...offer, [verb]: words });
    expect(result).toMatchObject({
      stage,
      reply: { code: Number(words.slice(0, 3)), text: words.slice(4) },
      problem: null,
    });
    const verdict = classifyMail(result);
    expect(verdict).toMatchObject({ outcome, blame });
    expect(verdict.message).toContain(words);
  });

  test.each([
    ["MAIL", "unreachable", "destination"],
    ["RCPT", "unreachable", "recipient"],
    ["DATA", "unreachable", "recipient"],
    ["content", "unsure", "unsure"],
  ] as const)("a connection that ends at %s fails as %s", async (verb, outcome, blame) => {
    const result = await sendTo({ ...offer, [verb]: "drop" });
    expect(result.reply).toBeNull();
    const isAtEach = offer === OFFERS["one by one"];
    expect(classifyMail(result)).toMatchObject(isAtEach ? { outcome, blame } : { outcome });
  });
});

test.each([
  ["MAIL", "sender"],
  ["RCPT", "recipient"],
  ["DATA", "data"],
  ["content", "content"],
] as const)("a connection that ends at %s fails at the step %s", async (verb, stage) => {
  const result = await sendTo({ EHLO: "250 scripted", [verb]: "drop" });
  expect(result).toMatchObject({ stage, reply: null });
});

test.each([
  ["MAIL", "MAIL", "sender", "interrupted"],
  ["RCPT", "RCPT", "recipient", "interrupted"],
  ["DATA", "DATA", "data", "interrupted"],
  ["content", ".", "content", "unsure"],
] as const)("a sender that is stopped while it waits at %s (%s) fails at %s as %s", async (...row) => {
  const [verb, last, stage, outcome] = row;
  const server = await startScriptedServer({ EHLO: "250 scripted", [verb]: "silent" });
  const sender = senderWith(plainSettings(server.port));
  const sending = sender.send(mail);
  await until(() => server.lines.some((line) => line.startsWith(last)));
  await sender.close();
  const result = await sending;
  expect(result).toMatchObject({ stage, reply: null, problem: { code: "EINTERRUPTED" } });
  expect(classifyMail(result).outcome).toBe(outcome);
});

describe("before the e-mail", () => {
  test.each([
    [{ greeting: "554 no service" }, {}, "connect", "relay_refused", "destination"],
    [{ greeting: "421 too many connections" }, {}, "connect", "deferred", "destination"],
    [{ EHLO: "421 closing" }, {}, "connect", "deferred", "destination"],
    [{ EHLO: "550 who are you", HELO: "550 go away" }, {}, "connect", "relay_refused", "destination"],
    [{ greeting: "drop" }, {}, "connect", "unreachable", "destination"],
    [{ greeting: "silent" }, { timeoutMs: 300 }, "connect", "unreachable", "destination"],
    [{ greeting: "HTTP/1.1 400 Bad Request" }, {}, "connect", "unreachable", "destination"],
    [{ STARTTLS: "454 TLS not available" }, { security: "starttls" }, "tls", "deferred", "destination"],
    [{ STARTTLS: "502 unknown" }, { security: "starttls" }, "tls", "tls_failed", "destination"],
    [{ STARTTLS: "drop" }, { security: "starttls" }, "tls", "unreachable", "destination"],
    [{ greeting: "220 no TLS here" }, { security: "tls" }, "tls", "tls_failed", "destination"],
    [{ EHLO: AUTH, AUTH: "535 5.7.8 wrong" }, login, "login", "login_refused", "destination"],
    [{ EHLO: AUTH, AUTH: "454 4.7.0 later" }, login, "login", "deferred", "destination"],
    [{ EHLO: AUTH, AUTH: "421 closing" }, login, "login", "deferred", "destination"],
    [{ EHLO: AUTH, AUTH: "drop" }, login, "login", "unreachable", "destination"],
    [{ EHLO: "250-scripted\r\n250 AUTH XOAUTH2" }, login, "login", "login_refused", "destination"],
    [{ EHLO: "250 scripted" }, login, "login", "login_refused", "destination"],
  ] as const)("%j with %j fails at %s as %s", async (...row) => {
    const [script, change, stage, outcome, blame] = row;
    const result = await sendTo(script, change);
    expect(result.stage).toBe(stage);
    const verdict = classifyMail(result);
    expect(verdict).toMatchObject({ outcome, blame });
    expect(verdict.message).not.toContain("undefined");
  });

  test("an address at which nothing listens is unreachable", async () => {
    const { port, close } = await startScriptedServer();
    await close();
    const result = await senderWith(plainSettings(port)).send(mail);
    expect(result).toMatchObject({ stage: "connect", problem: { code: "ECONNREFUSED" } });
    expect(classifyMail(result).message).toContain("Nothing listens at mail.host and mail.port");
  });

  test("TLS that never comes about is left when the sender is stopped", async () => {
    const server = await startScriptedServer({ STARTTLS: "220 go on" });
    const sender = senderWith(plainSettings(server.port, { security: "starttls" }));
    const sending = sender.send(mail);
    await until(() => server.lines.includes("STARTTLS"));
    await sender.close();
    expect(await sending).toMatchObject({ stage: "tls", problem: { code: "EINTERRUPTED" } });
  });

  test("a host that does not exist is unreachable", async () => {
    const result = await senderWith({ ...plainSettings(25), host: "no-such-host.invalid" }).send(mail);
    expect(result).toMatchObject({ stage: "connect", reply: null });
    expect(classifyMail(result)).toMatchObject({ outcome: "unreachable", blame: "destination" });
  });
});

test.each([
  ["connect", "EDEADLINE", "unreachable", "did not greet in time"],
  ["connect", "EAI_AGAIN", "unreachable", "could not be looked up"],
  ["connect", "ENOTFOUND", "unreachable", "does not exist"],
  ["connect", "ECONNRESET", "unreachable", "ended the connection"],
  ["tls", "EDEADLINE", "unreachable", "did not answer in time"],
  ["tls", "ECONNRESET", "unreachable", "ended the connection"],
  ["tls", "DEPTH_ZERO_SELF_SIGNED_CERT", "tls_failed", "NODE_EXTRA_CA_CERTS"],
  ["tls", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_failed", "NODE_EXTRA_CA_CERTS"],
  ["tls", "CERT_NOT_YET_VALID", "tls_failed", "check the clock"],
  ["tls", "ERR_SSL_WRONG_VERSION_NUMBER", "tls_failed", "mail.security"],
  ["login", "EDEADLINE", "unreachable", "did not answer in time (the login)"],
  ["sender", "EDEADLINE", "unreachable", "did not answer in time (the sender)"],
  ["sender", "ETOOLARGE", "content_refused", "no e-mail of this size"],
  ["recipient", "EDEADLINE", "unreachable", "did not answer in time (the recipient)"],
  ["data", "EDEADLINE", "unreachable", "did not answer in time (the content)"],
  ["content", "EDEADLINE", "unsure", "it may have arrived"],
  ["content", "ECONNRESET", "unsure", "it may have arrived"],
] as const)("at %s the problem %s is %s, and says: %s", (stage, code, outcome, words) => {
  const verdict = classifyMail({ stage, reply: null, problem: { code, detail: "words" }, durationMs: 1 });
  const isCommon = ["connect", "tls", "login", "sender"].includes(stage);
  const blames = { unsure: "unsure", content_refused: "recipient", tls_failed: "destination" } as const;
  const blame = outcome === "unreachable" ? (isCommon ? "destination" : "recipient") : blames[outcome];
  expect(verdict).toMatchObject({ outcome, blame });
  expect(verdict.message).toContain(words);
  expect(verdict.message).toContain(`(${code}: words)`);
});

test("a server that takes no e-mail of this size is not sent it", async () => {
  const server = await startScriptedServer({ EHLO: "250-scripted\r\n250 SIZE 10" });
  const result = await senderWith(plainSettings(server.port)).send(mail);
  expect(result).toMatchObject({ stage: "sender", problem: { code: "ETOOLARGE" } });
  expect(classifyMail(result)).toMatchObject({ outcome: "content_refused", blame: "recipient" });
  expect(server.lines.some((line) => line.startsWith("MAIL"))).toBe(false);
});

test.each([
  ["recipient", 554, "message"],
  ["data", 554, "message"],
  ["sender", 530, "destination"],
  ["connect", 554, "destination"],
] as const)(
  "at %s, a server that took e-mail of ours and now answers %s blames the %s",
  (stage, code, blame) => {
    const reply = { code, text: "5.7.1 Relay access denied" };
    const result = { stage, reply, problem: null, durationMs: 1 };
    expect(classifyMail(result, true)).toMatchObject({ outcome: "relay_refused", blame });
    expect(classifyMail(result, false)).toMatchObject({ outcome: "relay_refused", blame: "destination" });
  },
);
