import { expect, test } from "vitest";
import { query } from "../../src/database/database.ts";
import { all, run } from "../../src/database/steps.ts";
import { turnOffAutoReply } from "../support/auto-replies.ts";
import { listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import { createSqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import { dropOldUse, isWithin } from "../../src/outbox/queue/quotas.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { erasePersonRecords, findPersonRecords } from "../../src/submissions/manage/person-operations.ts";
import { performOn } from "../support/terminal.ts";
import { ReplyWorld } from "../support/reply-world.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";

const visitor = { email: "eve@example.net", name: "Eve", message: "Open on Sunday?" };

/** A visitor whom nobody else is. */
function visitors(count: number) {
  return Array.from({ length: count }, (_, n) => ({ ...visitor, email: `eve${n}@example.net` }));
}

function outcomesOf(world: ReplyWorld, id: string | undefined): string[] {
  return world.db.now(() => listAttempts(id ?? "")).map(({ outcome }) => outcome);
}

function countUses(world: ReplyWorld): number {
  return world.db.now(() => all(query.selectFrom("quota_use").selectAll())).length;
}

test("only one plain address that every server takes gets a reply: no name, no list, no header, no quotes", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const refused: unknown[] = [
    "Eve <eve@example.net>",
    "PLANTED <eve@example.net>",
    "eve@example.net, bob@example.net",
    "eve@example.net;bob@example.net",
    "eve@example.net\r\nBcc: bob@example.net",
    "eve@example.net\nSubject: planted",
    "eve@example.net\u0000",
    "eve@example.net\u2028Bcc: bob@example.net",
    " eve@example.net",
    "eve@example.net ",
    '"eve bob"@example.net',
    "eve@bob@example.net",
    "eve(planted)@example.net",
    "eve@[192.0.2.1]",
    "eve@example.net>",
    "",
    "eve",
    `${"e".repeat(65)}@example.net`,
    ["eve@example.net"],
    { address: "eve@example.net" },
    42,
    null,
  ];
  for (const email of refused) expect(world.isReplied({ email }), JSON.stringify(email)).toBe(false);
  expect(world.isReplied({ name: "Eve" })).toBe(false);
  expect(countUses(world)).toBe(0);
  expect(world.isReplied({ email: "eve@example.net" })).toBe(true);
});

test("a score of 25 gets a reply and one of 26 none, and a filled honeypot none whatever the score", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  expect(world.isReplied(visitor, { spamScore: 26 })).toBe(false);
  expect(world.isReplied(visitor, { trapped: true })).toBe(false);
  expect(world.isReplied(visitor, { spamScore: 25 })).toBe(true);
});

test("addresses of programs get none", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const programs = [
    "mailer-daemon",
    "MAILER-DAEMON",
    "postmaster",
    "abuse",
    "noreply",
    "no-reply",
    "no_reply",
    "No.Reply",
    "noreply+17",
    "noreply-news",
    "news-noreply",
    "donotreply",
    "do-not-reply",
    "do_not_reply",
    "bounce",
    "bounces+17=eve",
    "bounce-17",
    "owner-list",
    "list-request",
    "list-bounces",
    "majordomo",
  ];
  for (const name of programs) expect(world.isReplied({ email: `${name}@example.net` }), name).toBe(false);
  expect(world.isReplied({ email: "forms@example.com" }), "mail.from").toBe(false);
  expect(world.isReplied({ email: "Forms+1@Example.com" }), "mail.from").toBe(false);
  const people = [
    "noreen",
    "bouncer",
    "abusedog",
    "postmasters",
    "reply",
    "owner",
    "request",
    "norbert.reply",
  ];
  for (const name of people) expect(world.isReplied({ email: `${name}@example.net` }), name).toBe(true);
});

test("who unsubscribed and who refuses e-mail gets none, of any endpoint, also if that happened meanwhile", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const unsubscribed = await world.addRecipient("Eve@example.net", { maxSpamScore: 0 });
  const setUnsubscribed = (at: number | null) =>
    world.db.now(() =>
      run(query.updateTable("mail_recipient").set({ unsubscribed_at: at }).where("id", "=", unsubscribed.id)),
    );
  setUnsubscribed(1);
  expect(world.isReplied(visitor, { spamScore: 1 })).toBe(false);
  expect(countUses(world)).toBe(0);
  setUnsubscribed(null);
  world.db.now(() =>
    run(query.updateTable("recipient").set({ state: "stopped" }).where("id", "=", unsubscribed.id)),
  );
  expect(world.isReplied(visitor, { spamScore: 1 })).toBe(false);
  world.db.now(() => setRecipientEnabled(unsubscribed.id, true));
  const submissionId = world.postFrom(visitor, { spamScore: 1 });
  const [reply] = world.repliesTo(submissionId);
  setUnsubscribed(1);
  world.deliverer.start();
  await world.settle();
  expect(server.received).toEqual([]);
  expect(outcomesOf(world, reply?.id)).toEqual(["suppressed"]);
  expect(world.repliesTo(submissionId)).toMatchObject([{ state: "failed" }]);
});

test("an address gets one reply in 24 hours, however it is spelled, and of whichever endpoint", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const startedAt = world.clock.now();
  expect(world.isReplied({ email: "eve.smith@example.net" })).toBe(true);
  for (const email of [
    "eve.smith@example.net",
    "Eve.Smith@EXAMPLE.net",
    "evesmith@example.net",
    "eve.smith+1@example.net",
  ])
    expect(world.isReplied({ email }), email).toBe(false);
  world.clock.set(startedAt + DAY_MS - 1);
  expect(world.isReplied({ email: "eve.smith@example.net" })).toBe(false);
  world.startMail();
  expect(world.isReplied({ email: "eve.smith@example.net" }), "after a restart").toBe(false);
  world.clock.set(startedAt + DAY_MS);
  expect(world.isReplied({ email: "eve.smith@example.net" })).toBe(true);
});

test("an endpoint sends 20 replies in an hour, and turning it off and on begins no new hour", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const startedAt = world.clock.now();
  const many = visitors(24);
  expect(many.slice(0, 21).map((data) => world.isReplied(data))).toEqual([
    ...Array.from({ length: 20 }, () => true),
    false,
  ]);
  await turnOffAutoReply(world.db, world.endpoint, world.clock.now());
  await world.turnOn();
  expect(world.isReplied(many[21]!)).toBe(false);
  world.clock.set(startedAt + HOUR_MS - 1);
  expect(world.isReplied(many[22]!)).toBe(false);
  world.clock.set(startedAt + HOUR_MS);
  expect(world.isReplied(many[23]!)).toBe(true);
});

test("a network of clients causes 3 replies in an hour", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const startedAt = world.clock.now();
  const many = visitors(12);
  const from = (n: number, address: string): boolean => world.isReplied(many[n]!, { address });
  expect([from(0, "192.0.2.1"), from(1, "192.0.2.2"), from(2, "192.0.2.3")]).toEqual([true, true, true]);
  expect(from(3, "192.0.2.4")).toBe(false);
  expect(from(4, "192.0.3.4")).toBe(true);
  const sixth = ["2001:db8:1::1", "2001:db8:1:2::1", "2001:db8:1:ffff::1"];
  expect(sixth.map((address, n) => from(5 + n, address))).toEqual([true, true, true]);
  expect(from(8, "2001:db8:1::2")).toBe(false);
  world.clock.set(startedAt + HOUR_MS);
  expect(from(3, "192.0.2.4")).toBe(true);
});

test("two posts of one address in one transaction give one reply, and a transaction that is undone counts nothing", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  expect(() => world.postTogether([visitor, visitor], {}, true)).toThrow("the disk is full");
  expect(countUses(world)).toBe(0);
  world.postTogether([visitor, visitor]);
  expect(world.repliesTo()).toHaveLength(1);
});

test("a post to an endpoint without an automatic reply is not looked at for one: it costs no statement more", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.addRecipient("ada@example.org");
  let looks = 0;
  world.outbox = createSqliteOutbox(world.db, function* () {
    looks += 1;
    return yield* isWithin([], 0);
  });
  world.postFrom(visitor);
  expect(looks).toBe(0);
  await world.turnOn();
  world.postFrom(visitor, { spamScore: 26 });
  expect(looks).toBe(0);
  world.postFrom(visitor);
  expect(looks).toBe(1);
});

test("what is kept of an address is a hash, for a day at most, and goes when the person is erased", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  world.postFrom(visitor);
  world.postFrom({ email: "bob@example.net" });
  expect(countUses(world)).toBe(8);
  const rows = world.db.now(() => all(query.selectFrom("quota_use").selectAll()));
  for (const { key } of rows) expect(key.toString("latin1")).not.toContain("example");
  const sought = { field: "email", value: "eve@example.net" };
  const { submissions } = await performOn(world.db, findPersonRecords, sought, { parts: { searches: null } });
  const ids = submissions.map(({ id }) => id);
  await performOn(world.db, erasePersonRecords, { submissions: ids });
  expect(countUses(world)).toBe(4);
  world.clock.set(world.clock.now() + DAY_MS - 1);
  world.db.now(() => dropOldUse(world.clock.now()));
  expect(countUses(world)).toBe(1);
  world.clock.set(world.clock.now() + 1);
  expect(world.db.now(() => dropOldUse(world.clock.now()))).toBe(1);
  expect(countUses(world)).toBe(0);
});

test("what a clock that was ahead counted blocks nobody when it is right again", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.turnOn();
  const now = world.clock.now();
  world.clock.set(now + 30 * DAY_MS);
  expect(world.isReplied(visitor)).toBe(true);
  world.clock.set(now);
  expect(world.isReplied(visitor)).toBe(true);
  expect(world.db.now(() => dropOldUse(now))).toBe(4);
  expect(world.isReplied(visitor)).toBe(false);
});
