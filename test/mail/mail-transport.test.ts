import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all, run } from "../../src/database/steps.ts";
import { changeMailRecipient } from "../support/mail-recipients.ts";
import { getMailRecipient } from "../../src/mail/recipients/mail-recipient-store.ts";
import { checkFailedMail, checkMailRecipients, checkMailServer } from "../../src/mail/health/mail-health.ts";
import { getDelivery, listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import { headerOf, MailWorld } from "../support/mail-world.ts";
import {
  type Script,
  type ScriptedServer,
  startMailServer,
  startScriptedServer,
} from "../support/smtp-servers.ts";

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];

/** The Message-ID of every e-mail whose content a scripted server saw, in order. */
function messageIds({ lines }: ScriptedServer): string[] {
  return lines.flatMap((line) => /^Message-ID: <(msg_\w+)@/.exec(line)?.[1] ?? []);
}

/** Messages that have used up attempts of their schedule. */
function spentOf(world: MailWorld) {
  return world.db.now(() => all(query.selectFrom("delivery").select("id").where("spent", ">", 0)));
}

function attemptsOf(world: MailWorld, id: string | undefined) {
  return world.db.now(() => listAttempts(id ?? "")).map(({ outcome, status }) => [outcome, status]);
}

test("a post becomes an e-mail at the mail server, and its row says what the server answered", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient("ada@example.org", { subject: "{endpoint}: {topic}" });
  world.deliverer.start();
  const [submissionId = ""] = world.post(1, { topic: "Opening hours", message: "Open on Sunday?" });
  await world.settle();
  expect(server.received).toHaveLength(1);
  const [{ from, to, raw }] = server.received as [(typeof server.received)[number]];
  expect({ from, to }).toEqual({ from: "forms@example.com", to: ["ada@example.org"] });
  const [id = ""] = world.deliveryIds();
  expect(headerOf(raw, "Message-ID")).toBe(`<${id}@example.com>`);
  expect(headerOf(raw, "From")).toMatch(/Contact.* <forms@example\.com>$/);
  expect(headerOf(raw, "Subject")).toBe("Contact: Opening hours");
  expect(raw.toString()).toContain("Open on Sunday?");
  expect(raw.toString().replaceAll("=\r\n", "")).toContain(submissionId);
  expect(world.db.now(() => getDelivery(id))).toMatchObject({ state: "delivered", lastStatus: 250 });
  expect(world.db.now(() => listAttempts(id))).toMatchObject([{ outcome: "delivered", answer: "queued" }]);
  expect(world.inconsistencies()).toEqual([]);
});

test("a submission with a higher spam score than the recipient's is not sent", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient("ada@example.org");
  world.deliverer.start();
  world.post(1, { message: "seo" }, 51);
  world.post(1, { message: "genuine" }, 50);
  await world.settle();
  expect(server.received.map(({ raw }) => raw.includes("genuine"))).toEqual([true]);
});

test("greylisting: what is put off is sent a minute later, with the same bytes", async () => {
  const server = await startScriptedServer({ RCPT: "450 4.2.0 greylisted" });
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  world.deliverer.start();
  world.post();
  await world.settle();
  expect(messageIds(server)).toEqual([]);
  server.play({});
  await world.runUntil(world.clock.now() + MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 1 });
  expect(messageIds(server)).toEqual(world.deliveryIds());
  expect(attemptsOf(world, world.deliveryIds()[0])).toEqual([
    ["deferred", 450],
    ["delivered", 250],
  ]);
});

test("a recipient that is refused for good fails its message at once; the third in a row holds the others until it is enabled", async () => {
  const server = await startScriptedServer({ RCPT: "550 5.1.1 no such mailbox" });
  await using world = new MailWorld(server.port);
  const { id } = await world.addRecipient();
  world.deliverer.start();
  for (let count = 0; count < 3; count += 1) {
    expect(world.db.now(() => getMailRecipient(id))).toMatchObject({ state: "enabled", refusals: count });
    world.post();
    await world.settle();
  }
  expect(world.db.now(() => getMailRecipient(id))).toMatchObject({ state: "stopped", refusals: 3 });
  world.post(2);
  await world.settle();
  await world.spread();
  expect(world.states()).toEqual({ failed: 3, held: 2 });
  expect(attemptsOf(world, world.deliveryIds()[0])).toEqual([["recipient_refused", 550]]);
  expect(world.db.now(checkMailRecipients)).toMatchObject([
    { ok: false, advice: { kind: "look_at_recipient", recipientId: id } },
  ]);
  expect(world.db.now(checkFailedMail)).toMatchObject({ ok: false });
  expect(world.db.now(() => checkMailServer({ host: "127.0.0.1", port: server.port }))).toMatchObject({
    ok: true,
  });
});

test("what the mail server takes for spam is tried again, and stops neither its recipient nor other e-mail", async () => {
  const server = await startScriptedServer({
    content: (socket) => {
      const content = server.lines.slice(server.lines.lastIndexOf("DATA"));
      socket.write(content.includes("message: spam") ? "554 5.7.1 spam\r\n" : "250 queued\r\n");
    },
  });
  await using world = new MailWorld(server.port);
  const { id } = await world.addRecipient();
  world.deliverer.start();
  world.post(4, { message: "spam" });
  await world.settle();
  world.post(1, { message: "genuine" });
  await world.settle();
  expect(world.states()).toEqual({ pending: 4, delivered: 1 });
  expect(world.db.now(() => getMailRecipient(id))).toMatchObject({ state: "enabled", refusals: 0 });
  expect(attemptsOf(world, world.deliveryIds()[0])).toEqual([["content_refused", 554]]);
  server.play({});
  await world.runUntil(world.clock.now() + MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 5 });
});

test("one recipient that is refused, or whose refusal speaks of relaying, stops no other", async () => {
  const refuse = (socket: { write(text: string): unknown }): void => {
    const last = server.lines.at(-1) ?? "";
    socket.write(last.includes("bob@") ? "554 5.7.1 Relay access denied\r\n" : "250 fine\r\n");
  };
  const server = await startScriptedServer({ EHLO: "250 scripted", RCPT: refuse });
  await using world = new MailWorld(server.port);
  await world.addRecipient("bob@example.org");
  await world.addRecipient("ada@example.org");
  world.deliverer.start();
  for (let minute = 0; minute < 10; minute += 1) {
    world.post();
    await world.runUntil(world.clock.now() + MINUTE_MS);
  }
  await world.runUntil(world.clock.now() + HOUR_MS);
  const to = (address: string) => server.lines.filter((line) => line === `RCPT TO:<${address}>`).length;
  expect(to("ada@example.org")).toBeGreaterThanOrEqual(10);
  expect(world.states()["delivered"]).toBe(10);
  expect(to("bob@example.org")).toBeLessThan(10);
});

test("a login that is refused costs no message an attempt, doctor says so, and all go out when it is right", async () => {
  const server = await startScriptedServer({ MAIL: "530 5.7.0 log in first" });
  await using world = new MailWorld(server.port);
  for (const address of ["ada@example.org", "bob@example.org", "eve@example.org"])
    await world.addRecipient(address);
  world.deliverer.start();
  world.post(3);
  const startedAt = world.clock.now();
  await world.runUntil(startedAt + DAY_MS);
  expect(world.states()).toEqual({ pending: 9 });
  expect(spentOf(world)).toEqual([]);
  const place = { host: "127.0.0.1", port: server.port };
  const { ok, message } = world.db.now(() => checkMailServer(place));
  expect(ok).toBe(false);
  expect(message).toContain("all e-mail waits since");
  expect(message).toContain("530 5.7.0 log in first");
  expect(server.connections()).toBeLessThan(120);
  server.play({});
  await world.runUntil(world.clock.now() + 20 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 9 });
  expect(world.db.now(() => checkMailServer(place))).toMatchObject({ ok: true });
});

test.each<[string, Script, string]>([
  ["greets with 10 MB", { greeting: `220 ${"x".repeat(10_000_000)}` }, "is no mail server"],
  ["drops every connection", { greeting: "drop" }, "ended the connection"],
  ["is a web server", { greeting: "HTTP/1.1 400 Bad Request" }, "is no mail server"],
  ["takes nothing from strangers", { RCPT: "550 5.7.1 relay access denied" }, "set mail.user"],
])(
  "a mail server that %s costs no message an attempt, doctor says why, and all go when it is well",
  async (_what, script, said) => {
    const server = await startScriptedServer(script);
    await using world = new MailWorld(server.port);
    await world.addRecipient();
    world.deliverer.start();
    world.post(3);
    await world.runUntil(world.clock.now() + HOUR_MS);
    expect(world.states()).toEqual({ pending: 3 });
    expect(spentOf(world)).toEqual([]);
    const place = { host: "127.0.0.1", port: server.port };
    expect(world.db.now(() => checkMailServer(place))).toMatchObject({
      ok: false,
      message: expect.stringContaining(said) as unknown,
    });
    server.play({});
    await world.runUntil(world.clock.now() + 20 * MINUTE_MS);
    expect(world.states()).toEqual({ delivered: 3 });
    expect(new Set(messageIds(server)).size).toBe(3);
  },
);

test("a mail server that is stopped in between and started again gets each e-mail once", async () => {
  const server = await startScriptedServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  world.deliverer.start();
  world.post(2);
  await world.settle();
  expect(world.states()).toEqual({ delivered: 2 });
  // The connection that is kept open ends at its next command, and a new one at its greeting.
  server.play({ greeting: "drop", MAIL: "drop" });
  world.post(2);
  await world.runUntil(world.clock.now() + HOUR_MS);
  expect(world.states()).toEqual({ delivered: 2, pending: 2 });
  expect(spentOf(world)).toEqual([]);
  server.play({});
  await world.runUntil(world.clock.now() + 20 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 4 });
  expect(messageIds(server).toSorted()).toEqual([...world.deliveryIds()].toSorted());
});

test("a mail server that is down for 7 days loses nothing: what came meanwhile arrives when it is back, in few e-mails", async () => {
  const down = await startScriptedServer();
  await down.close();
  await using world = new MailWorld(down.port);
  await world.addRecipient();
  world.deliverer.start();
  const startedAt = world.clock.now();
  let posts = 0;
  for (let hour = 0; hour < 7 * 24; hour += 2) {
    posts += world.post().length;
    await world.runUntil(startedAt + (hour + 2) * HOUR_MS);
  }
  expect(world.states()).toEqual({ pending: posts });
  await world.deliverer.stop(0);
  const server = await startMailServer();
  world.startMail(server.port);
  await world.deliverer.recover();
  world.deliverer.start();
  await world.runUntil(world.clock.now() + 2 * HOUR_MS);
  expect(world.states()).toEqual({ delivered: posts });
  // Ten at once, the others in a summary, and what had been tried while the server was down by itself.
  expect(server.received.length).toBeLessThanOrEqual(14);
  expect(world.inconsistencies()).toEqual([]);
});

test("a server that drops the connection after the dot gets the e-mail once more after half an hour, and no third time", async () => {
  const server = await startScriptedServer({ content: "drop" });
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  world.deliverer.start();
  const startedAt = world.clock.now();
  world.post();
  await world.settle();
  expect(world.states()).toEqual({ pending: 1 });
  await world.runUntil(startedAt + 29 * MINUTE_MS);
  expect(messageIds(server)).toHaveLength(1);
  await world.runUntil(startedAt + DAY_MS);
  const [id = ""] = world.deliveryIds();
  expect(messageIds(server)).toEqual([id, id]);
  expect(world.states()).toEqual({ failed: 1 });
  expect(attemptsOf(world, id)).toEqual([
    ["unsure", null],
    ["unsure", null],
  ]);
  const contents = `${server.lines.join("\n")}\n`
    .split("Message-ID")
    .slice(1)
    .map((part) => part.split("\n.\n")[0]);
  expect(contents[0]).toBe(contents[1]);
});

test("what a process was sending when it ended may have arrived: it goes once more after half an hour", async () => {
  const server = await startScriptedServer({ content: "silent" });
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  world.deliverer.start();
  const startedAt = world.clock.now();
  world.post();
  world.deliverer.wake();
  await expect.poll(() => server.lines.includes(".")).toBe(true);
  await world.restartMail();
  await world.settle();
  expect(world.states()).toEqual({ pending: 1 });
  server.play({});
  await world.runUntil(startedAt + 31 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 1 });
  expect(messageIds(server)).toEqual([world.deliveryIds()[0], world.deliveryIds()[0]]);
});

test("an e-mail that a process was sending when it was killed is logged as recovered by the next one", async () => {
  const server = await startScriptedServer({ content: "silent" });
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  const killed = world.deliverer;
  killed.start();
  world.post();
  killed.wake();
  await expect.poll(() => server.lines.includes(".")).toBe(true);
  expect(world.states()).toEqual({ sending: 1 });
  world.startMail();
  await world.deliverer.recover();
  const recovered = world.logged.map((line) => JSON.parse(line) as unknown);
  expect(recovered).toMatchObject([{ event: "delivery.recovered", level: "warn", recovered: 1 }]);
  expect(world.states()).toEqual({ pending: 1 });
  await killed.stop(0);
});

test("a server that stops answering before the content loses no message, and one that was stopped goes on soon", async () => {
  const server = await startScriptedServer({ EHLO: "250 scripted", RCPT: "silent" });
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  world.deliverer.start();
  world.post();
  world.deliverer.wake();
  await expect.poll(() => server.lines.some((line) => line.startsWith("RCPT"))).toBe(true);
  await world.restartMail();
  server.play({});
  await world.runUntil(world.clock.now() + MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 1 });
  expect(attemptsOf(world, world.deliveryIds()[0])).toEqual([
    ["interrupted", null],
    ["delivered", 250],
  ]);
});

test("twenty posts in a minute give ten e-mails and one summary of the other ten", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  world.deliverer.start();
  const startedAt = world.clock.now();
  for (let n = 1; n <= 20; n += 1) {
    world.post(1, { message: `number ${n};` });
    await world.runUntil(startedAt + n * 3000);
  }
  expect(server.received).toHaveLength(10);
  await world.runUntil(startedAt + HOUR_MS);
  expect(server.received).toHaveLength(11);
  const summary = server.received[10]!.raw;
  expect(headerOf(summary, "Subject")).toBe("10 new submissions: Contact");
  for (let n = 11; n <= 20; n += 1) expect(summary.includes(`number ${n};`), String(n)).toBe(true);
  expect(headerOf(summary, "Message-ID")).toBe(`<${world.deliveryIds()[10]}@example.com>`);
  expect(world.states()).toEqual({ delivered: 20 });
});

test("a recipient of a daily digest gets one e-mail a day, and an hourly one one an hour", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient("daily@example.org", { digest: "daily" });
  await world.addRecipient("hourly@example.org", { digest: "hourly" });
  world.deliverer.start();
  const startedAt = world.clock.now();
  for (let count = 0; count < 6; count += 1) {
    world.post(1, { message: "Hello" });
    await world.runUntil(startedAt + (count + 1) * 30 * MINUTE_MS);
  }
  await world.runUntil(startedAt + 2 * DAY_MS);
  const subjects = (address: string) =>
    server.received.filter(({ to }) => to.includes(address)).map(({ raw }) => headerOf(raw, "Subject"));
  expect(subjects("daily@example.org")).toEqual(["6 new submissions: Contact"]);
  const twoEach = Array.from({ length: 3 }, () => "2 new submissions: Contact");
  expect(subjects("hourly@example.org")).toEqual(twoEach);
  expect(world.states()).toEqual({ delivered: 12 });
});

test("when a recipient gets another digest, what was gathered goes out at once, and the rest as it wants", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  const { id } = await world.addRecipient("ada@example.org", { digest: "daily" });
  world.deliverer.start();
  world.post(3);
  await world.settle();
  expect(server.received).toEqual([]);
  const change = { id, change: { digest: "each" }, actor: null } as const;
  await world.db.transaction(() => changeMailRecipient(change, world.clock.now()));
  world.deliverer.reload();
  await world.settle();
  world.post(1);
  await world.settle();
  expect(server.received.map(({ raw }) => headerOf(raw, "Subject"))).toEqual([
    "3 new submissions: Contact",
    "New submission: Contact",
  ]);
});

test("an e-mail that cannot be made runs out of its attempts and holds up no other", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  const { id } = await world.addRecipient();
  world.db.now(() =>
    run(query.updateTable("mail_recipient").set({ address: "no address" }).where("id", "=", id)),
  );
  await world.addRecipient("bob@example.org");
  world.deliverer.start();
  world.post();
  await world.settle();
  expect(world.states()).toEqual({ delivered: 1, pending: 1 });
  await world.runUntil(world.clock.now() + 6 * DAY_MS);
  expect(world.states()).toEqual({ delivered: 1, failed: 1 });
});
