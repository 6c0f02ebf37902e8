import { performOn } from "../support/terminal.ts";
import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all, run } from "../../src/database/steps.ts";
import { checkAutoReplies } from "../../src/mail/auto-reply/auto-reply-health.ts";
import { setAutoReply, turnOffAutoReply } from "../support/auto-replies.ts";
import { findAutoReplyOf } from "../../src/mail/auto-reply/auto-reply-store.ts";
import { replayMail } from "../../src/mail/mail-deliveries.ts";
import { checkMailServer } from "../../src/mail/health/mail-health.ts";
import { countFailedOf } from "../../src/outbox/queue/count-deliveries.ts";
import { dropOldFailures } from "../../src/outbox/queue/delivery-retention.ts";
import { listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import { REPLY_KIND } from "../../src/outbox/queue/recipient.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import { recoverDeliveries, selectSending } from "../../src/outbox/sending/recover-deliveries.ts";
import { autoReplyPolicyOf } from "../../src/mail/auto-reply/auto-reply-transport.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { readMail } from "../support/read-mail.ts";
import { ReplyWorld } from "../support/reply-world.ts";
import { type ScriptedServer, startMailServer, startScriptedServer } from "../support/smtp-servers.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const visitor = { email: "eve@example.net", name: "Eve", message: "Open on Sunday?" };

/** A visitor whom nobody else is. */
function visitors(count: number) {
  return Array.from({ length: count }, (_, n) => ({ ...visitor, email: `eve${n}@example.net` }));
}

/** Recipients that a scripted server was told, in order. */
function named({ lines }: ScriptedServer): string[] {
  return lines.flatMap((line) => /^RCPT TO:<(.*)>$/.exec(line)?.[1] ?? []);
}

function outcomesOf(world: ReplyWorld, id: string | undefined): string[] {
  return world.db.now(() => listAttempts(id ?? "")).map(({ outcome }) => outcome);
}

test("a reply without words of the owner's is in the endpoint's language", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn({});
  world.db.now(() => run(query.updateTable("endpoint").set({ language: "de" })));
  world.deliverer.start();
  const reference = world.postFrom(visitor);
  await world.settle();
  const mail = readMail(server.received[0]!.raw);
  expect(mail.header("Subject")).toBe("Wir haben Ihre Nachricht erhalten: Contact");
  for (const text of [
    "Vielen Dank. Ihre Nachricht ist angekommen.",
    `Vorgang: ${reference}`,
    "Dies ist eine automatische E-Mail.",
  ])
    expect(mail.text).toContain(text);
  expect(mail.html).toContain('<html lang="de" dir="ltr">');
});

test("whoever posts gets a reply with the form's name, the reference, the time and the owner's text", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.addRecipient("ada@example.org");
  await world.turnOn({
    subject: "Thank you: {endpoint}",
    text: "Dear visitor,\nthank you.\n\nWe answer {reference} within two days.\n\nAda",
    replyTo: "Ada@example.org",
  });
  world.deliverer.start();
  const reference = world.postFrom(visitor);
  await world.settle();
  const sent = server.received.find(({ to }) => to.includes("eve@example.net"));
  const mail = readMail(sent!.raw);
  expect(mail.header("Subject")).toBe("Thank you: Contact");
  expect(mail.header("From")).toBe('"Contact" <forms@example.com>');
  expect(mail.header("To")).toBe("<eve@example.net>");
  expect(mail.header("Reply-To")).toBe("<ada@example.org>");
  expect(mail.header("Auto-Submitted")).toBe("auto-replied");
  expect(mail.header("X-Auto-Response-Suppress")).toBe("All");
  expect(mail.header("List-Unsubscribe")).toBeNull();
  const [reply] = world.repliesTo(reference);
  expect(mail.header("Message-ID")).toBe(`<${reply?.id}@example.com>`);
  const received = `${new Date(world.clock.now()).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  expect(mail.text).toContain(
    `Dear visitor,\nthank you.\n\nWe answer ${reference} within two days.\n\nAda\n\n` +
      `Form: Contact\nReference: ${reference}\nReceived: ${received}\n`,
  );
  expect(mail.html).toMatch(/<p style="[^"]*white-space:pre-line">Dear visitor,\nthank you\.<\/p>/);
  expect(world.repliesTo(reference)).toMatchObject([{ state: "delivered", lastStatus: 250 }]);
});

test("nothing that was submitted is in the reply, whatever field it was written into", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn({ text: "Thank you." });
  world.deliverer.start();
  const marks = Object.fromEntries(
    ["name", "message", "endpoint", "reference", "time", "subject", "text", "{name}", "toString"].map(
      (field) => [field, `PLANTED ${field} https://planted.example`],
    ),
  );
  const nested = { list: ["PLANTED"], object: { "PLANTED key": "PLANTED" }, PLANTED: true };
  world.postFrom({ ...marks, ...nested, email: "eve@example.net" });
  await world.settle();
  expect(server.received).toHaveLength(1);
  const raw = server.received[0]!.raw.toString("latin1");
  const mail = readMail(server.received[0]!.raw);
  for (const part of [raw, mail.text, mail.html, JSON.stringify(mail.headers)])
    expect(part.toLowerCase()).not.toContain("planted");
});

test("neither texts of the owner nor the form's name make a header", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  const hostile = 'Form"\r\nBcc: bob@example.net\r\n\r\n<b>\u202eplanted';
  world.db.prepare("UPDATE endpoint SET name = ?").run(hostile);
  for (const subject of ["Hi\r\nBcc: bob@example.net", "Hi\u0000", "Hi\u202e", "", "x".repeat(201)])
    await expect(world.turnOn({ subject })).rejects.toMatchObject({ code: "usage" });
  await world.turnOn({
    subject: "{endpoint} =?UTF-8?B?planted?= {time}",
    text: "A\r\n.\r\nBcc: bob@example.net\u0000\u202e",
  });
  world.deliverer.start();
  world.postFrom(visitor);
  await world.settle();
  expect(server.received.map(({ to }) => to)).toEqual([["eve@example.net"]]);
  const mail = readMail(server.received[0]!.raw);
  expect(mail.header("Bcc")).toBeNull();
  expect(mail.headers.map(([name]) => name)).toEqual([
    "Message-ID",
    "Date",
    "From",
    "To",
    "Subject",
    "Auto-Submitted",
    "X-Auto-Response-Suppress",
    "MIME-Version",
    "Content-Type",
  ]);
  expect(mail.text).toContain("A\n.\nBcc: bob@example.net\n");
});

test("a reply whose end is not known is never sent again: after the dot, and when the process ends meanwhile", async () => {
  const server = await startScriptedServer({ content: "drop" });
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  world.deliverer.start();
  const [first = visitor, second = visitor] = visitors(2);
  const dropped = world.postFrom(first);
  await world.settle();
  expect(world.repliesTo(dropped)).toMatchObject([{ state: "failed", attempts: 1 }]);
  server.play({ content: "silent" });
  const killed = world.postFrom(second);
  world.deliverer.wake();
  await expect.poll(() => server.lines.filter((line) => line === ".").length).toBe(2);
  const replies = [{ kind: REPLY_KIND, policy: autoReplyPolicyOf(defaultConfig.mail) }];
  world.db.now(function* () {
    yield* recoverDeliveries(yield* all(selectSending()), replies, world.clock.now());
  });
  expect(world.repliesTo(killed)).toMatchObject([{ state: "failed", attempts: 1 }]);
  await world.restartMail();
  server.play({});
  await world.runUntil(world.clock.now() + 7 * DAY_MS);
  expect(named(server)).toHaveLength(2);
  expect(world.repliesTo(dropped)).toMatchObject([{ state: "failed", attempts: 1 }]);
  expect(outcomesOf(world, world.repliesTo(dropped)[0]?.id)).toEqual(["unsure"]);
  expect(outcomesOf(world, world.repliesTo(killed)[0]?.id)).toEqual(["interrupted"]);
});

test("the claim of a reply is on the disk before its first byte is sent", async () => {
  const server = await startScriptedServer({ EHLO: "250 scripted", RCPT: "silent" });
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const begunAt = () => world.db.prepare("SELECT begun_at FROM auto_reply").pluck().get();
  expect(begunAt()).toBeNull();
  world.deliverer.start();
  world.postFrom(visitor);
  world.deliverer.wake();
  await expect.poll(() => named(server).length).toBe(1);
  // The note is made by a transaction that waits for the disk, after the claim.
  expect(begunAt()).toBe(world.clock.now());
  expect(world.repliesTo()).toMatchObject([{ state: "sending" }]);
});

test("a reply that is put off is sent later with the same Message-ID and bytes, and counts as sent only then", async () => {
  const server = await startScriptedServer({ content: "450 4.2.0 greylisted" });
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  world.deliverer.start();
  world.postFrom(visitor);
  await world.settle();
  expect(world.repliesTo()).toMatchObject([{ state: "pending", attempts: 1 }]);
  const sentAt = () => world.db.now(() => findAutoReplyOf(world.endpointId))?.sentAt;
  expect(sentAt()).toBeNull();
  server.play({});
  await world.runUntil(world.clock.now() + MINUTE_MS);
  expect(world.repliesTo()).toMatchObject([{ state: "delivered", attempts: 2 }]);
  expect(sentAt()).toBe(world.db.prepare("SELECT finished_at FROM delivery").pluck().get());
  const contents = `${server.lines.join("\n")}\n`
    .split("Message-ID")
    .slice(1)
    .map((part) => part.split("\n.\n")[0]);
  expect(contents).toHaveLength(2);
  expect(contents[0]).toBe(contents[1]);
});

test("addresses that are refused stop neither other replies nor other e-mail, whatever the server says of them", async () => {
  const refuse = (socket: { write(text: string): unknown }): void => {
    const last = server.lines.at(-1) ?? "";
    socket.write(last.includes("nobody") ? "554 5.7.1 Relay access denied\r\n" : "250 fine\r\n");
  };
  const server = await startScriptedServer({ EHLO: "250 scripted", RCPT: refuse });
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  world.deliverer.start();
  for (let n = 0; n < 5; n += 1) world.postFrom({ email: `nobody${n}@example.net` });
  await world.settle();
  expect(world.states()).toEqual({ failed: 5 });
  await world.addRecipient("ada@example.org");
  world.postFrom(visitor);
  await world.settle();
  expect(world.states()).toEqual({ failed: 5, delivered: 2 });
  expect(world.db.now(() => findAutoReplyOf(world.endpointId))?.onSince).not.toBeNull();
  expect(world.db.now(() => countFailedOf(null))).toBe(0);
});

test("replies and other e-mail wait together for a mail server that is away, and share the pace of a minute", async () => {
  const server = await startScriptedServer({ MAIL: "530 5.7.0 log in first" });
  await using world = new ReplyWorld(server.port);
  world.mailSettings = { limits: { ...defaultConfig.mail.limits, perMinute: 5 } };
  world.startMail();
  await world.addRecipient("ada@example.org");
  await world.turnOn();
  world.deliverer.start();
  for (const data of visitors(6)) world.postFrom(data);
  const startedAt = world.clock.now();
  await world.runUntil(startedAt + HOUR_MS);
  const place = { host: "127.0.0.1", port: server.port };
  expect(world.db.now(() => checkMailServer(place)).message).toContain("all e-mail waits since");
  // One at a time asks again, whichever kind it is of.
  expect(server.lines.filter((line) => line.startsWith("MAIL")).length).toBeLessThan(15);
  expect(world.states()).toEqual({ pending: 12 });
  server.play({});
  await world.runUntil(world.clock.now() + HOUR_MS);
  expect(world.states()).toEqual({ delivered: 12 });
  world.clock.set(world.clock.now() + DAY_MS);
  const before = named(server).length;
  for (const data of visitors(6)) world.postFrom(data);
  await world.settle();
  expect(named(server).length - before).toBe(5);
  await world.runUntil(world.clock.now() + 10 * MINUTE_MS);
  expect(named(server).length - before).toBe(12);
});

test("replies are never gathered into one, however many are due", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  for (const data of visitors(20)) world.postFrom(data);
  await world.spread();
  world.deliverer.start();
  await world.settle();
  expect(server.received.map(({ to }) => String(to)).toSorted()).toEqual(
    visitors(20)
      .map(({ email }) => email)
      .toSorted(),
  );
});

test("turned off, what waits is dropped and nothing is queued; the text stays for the next time", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn({ text: "Thank you, {endpoint}." });
  world.postFrom(visitor);
  const off = await turnOffAutoReply(world.db, world.endpoint, world.clock.now());
  expect(off).toMatchObject({ onSince: null, settings: { text: "Thank you, {endpoint}." } });
  world.noticeChange();
  expect(world.repliesTo()).toEqual([]);
  expect(world.isReplied({ email: "bob@example.net" })).toBe(false);
  expect(await world.turnOn()).toMatchObject({ settings: { text: "Thank you, {endpoint}." } });
  world.deliverer.start();
  await world.settle();
  expect(server.received).toEqual([]);
  expect(world.isReplied({ email: "bob@example.net" })).toBe(true);
});

test("with another field, what waits is dropped: its address was never counted", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  const email = { type: "string", format: "email" } as const;
  world.setSchema({ email, friend: email, name: { type: "string" } });
  await expect(world.turnOn()).rejects.toMatchObject({ code: "usage" });
  await expect(world.turnOn({ field: "name" })).rejects.toMatchObject({ code: "usage" });
  const { id } = await world.turnOn({ field: "email" });
  world.postFrom({ email: "eve@example.net", friend: "victim@example.net" });
  expect(world.repliesTo()).toHaveLength(1);
  expect(await world.turnOn({ field: "friend" })).toMatchObject({ id, settings: { field: "friend" } });
  expect(world.repliesTo()).toEqual([]);
  world.deliverer.start();
  await world.settle();
  expect(server.received).toEqual([]);
});

test("a reply that was being sent while the field was changed goes to neither address later", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  const email = { type: "string", format: "email" } as const;
  world.setSchema({ email, friend: email });
  await world.turnOn({ field: "email" });
  const reference = world.postFrom({ email: "eve@example.net", friend: "victim@example.net" });
  await spreadOutbox(world.db, world.clock.now());
  const inState = (state: "sending" | "pending") =>
    world.db.now(() => run(query.updateTable("delivery").set({ state })));
  inState("sending");
  world.clock.advance(1000);
  await world.turnOn({ field: "friend" });
  // The attempt ends, and was put off by the mail server.
  inState("pending");
  world.deliverer.start();
  await world.settle();
  expect(server.received).toEqual([]);
  const [reply] = world.repliesTo(reference);
  expect([reply?.state, outcomesOf(world, reply?.id)]).toEqual(["failed", ["suppressed"]]);
});

test("when the schema loses the field nobody gets a reply, and doctor says so", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const findings = () => world.db.now(() => checkAutoReplies(world.replyLimits, world.clock.now()));
  expect(findings()).toMatchObject([{ ok: true }]);
  world.setSchema({ email: { type: "string" } });
  expect(world.isReplied(visitor)).toBe(false);
  expect(findings()).toMatchObject([
    { ok: false, advice: { kind: "choose_reply_field", endpointId: world.endpointId } },
  ]);
  await expect(world.turnOn()).rejects.toMatchObject({ code: "usage" });
});

test("answers go only to a recipient of the endpoint who agreed, and to nobody once it is gone", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await expect(world.turnOn({ replyTo: "stranger@example.org" })).rejects.toMatchObject({
    code: "not_found",
  });
  const { id } = await world.addRecipient("ada@example.org", { maxSpamScore: 0 });
  world.db.now(() => setRecipientEnabled(id, false));
  await world.turnOn({ replyTo: "ada@example.org" });
  const { endpoint, db, clock } = world;
  world.db.now(() =>
    run(query.updateTable("mail_recipient").set({ unsubscribed_at: 1 }).where("id", "=", id)),
  );
  const change = { replyTo: "ada@example.org" };
  await expect(setAutoReply(db, { endpoint, change }, clock.now())).rejects.toMatchObject({
    code: "conflict",
  });
  world.deliverer.start();
  world.postFrom(visitor, { spamScore: 1 });
  await world.settle();
  expect(readMail(server.received[0]!.raw).header("Reply-To")).toBeNull();
});

test("an automatic reply is never sent again on request, by itself or in a range", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  const reply = await world.turnOn();
  world.deliverer.start();
  const submissionId = world.postFrom(visitor);
  await world.settle();
  const [delivery] = world.repliesTo(submissionId);
  const door = { now: world.clock.now() };
  const range = { since: "1970-01-01T00:00:00Z" };
  for (const as_new of [false, true]) {
    for (const what of [{ delivery: delivery?.id ?? "" }, { ...range, recipient: reply.id }])
      await expect(performOn(world.db, replayMail, { ...what, as_new }, door)).rejects.toMatchObject({
        code: "conflict",
      });
    expect(await performOn(world.db, replayMail, { ...range, as_new }, door)).toEqual({
      matched: 0,
      replayed: 0,
    });
  }
  await world.settle();
  expect(server.received).toHaveLength(1);
});

test("replies that failed are deleted with those that were sent", async () => {
  const server = await startScriptedServer({ RCPT: "550 5.1.1 no such mailbox" });
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  world.deliverer.start();
  world.postFrom(visitor);
  await world.settle();
  expect(world.states()).toEqual({ failed: 1 });
  const drop = () => world.db.now(() => dropOldFailures({ kind: REPLY_KIND, days: 30 }, world.clock.now()));
  expect(drop()).toBe(0);
  world.clock.set(world.clock.now() + 30 * DAY_MS + 1);
  expect(world.db.now(() => dropOldFailures({ kind: "mail", days: 30 }, world.clock.now()))).toBe(0);
  expect(drop()).toBe(1);
  expect(world.states()).toEqual({});
});
